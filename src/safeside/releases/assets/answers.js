// The published answers as flat arrays, and what they say at a threshold the reader chose.
const DATA = JSON.parse(document.getElementById("data").textContent);
const NONE = -1; // in `upper`: no bound was published
const COUNT = DATA.ids.length;
const UPPER = Float64Array.from(DATA.upper, (bound) => (bound === null ? NONE : bound));
const LOWER = DATA.lower === null ? null : Float64Array.from(DATA.lower);
const PUBLISHED = Uint8Array.from(DATA.states);
const THRESHOLDS = typeof DATA.at_most === "number" ? null : Float64Array.from(DATA.at_most);
const state = Uint8Array.from(PUBLISHED); // what the page shows now
let chosen = null; // the reader's threshold; null shows the release as published

const nameOf = (i) => (DATA.names && DATA.names[i]) || DATA.ids[i];
const regionOf = (i) => (DATA.regions ? DATA.regions.names[DATA.regions.index[i]] : "");
const thresholdOf = (i) => (chosen !== null ? chosen : THRESHOLDS ? THRESHOLDS[i] : DATA.at_most);
const number = (value) => value.toLocaleString("en");

// z <= t is certain at every t together, so reading the same bounds at another t costs nothing.
function choose(threshold) {
  chosen = threshold;
  if (threshold === null) { state.set(PUBLISHED); return; }
  for (let i = 0; i < COUNT; i++) {
    state[i] = UPPER[i] !== NONE && UPPER[i] <= threshold ? AT_MOST
      : PUBLISHED[i] === AT_LEAST ? AT_LEAST : UNCLEAR;
  }
}

function tally() {
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < COUNT; i++) counts[state[i]]++;
  return counts;
}

function visitors(bound) { return bound === 1 ? "known infected visitor" : "known infected visitors"; }

// Words for a state in general (legend), then for one place (card, table).
function legendWords(kind) {
  if (kind === AT_MOST) {
    const t = chosen !== null ? chosen : THRESHOLDS ? null : DATA.at_most;
    return t === null ? "At most the number set for the place" : `At most ${t} ${visitors(t)}`;
  }
  if (kind === AT_LEAST) return `At least ${DATA.at_least} known infected visitors`;
  return kind === UNCLEAR ? "Cannot say" : "Not asked";
}

function words(i) {
  if (state[i] === AT_MOST) {
    const t = thresholdOf(i);
    return `At most ${t} ${visitors(t)}`;
  }
  return legendWords(state[i]);
}

function explain(i) {
  const bound = UPPER[i], t = thresholdOf(i);
  if (state[i] === NOT_ASKED) return "This place was not reached. Nothing is said about it, neither few nor many.";
  if (state[i] === AT_LEAST) {
    return `Wrong for any place of this map with probability at most ${DATA.alpha}. Certainly at most ${number(bound)}.`;
  }
  if (state[i] === UNCLEAR) {
    return bound === NONE ? "This can mean few or many."
      : `There may be ${t} or fewer, or more: it is certain only that there were at most ${number(bound)}.`;
  }
  return bound < t && DATA.slider ? `This is certain; in fact ${bound === 0 ? "none" : `at most ${bound}`}.` : "This is certain.";
}
