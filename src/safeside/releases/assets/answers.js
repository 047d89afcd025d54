// The published answers as flat arrays, and what they say in a window and at a threshold the reader chose.
const DATA = JSON.parse(document.getElementById("data").textContent);
const HIGHER = 4; // shown only: a level above the number asked about, for which one bound is certain
const KINDS = 5;
const NONE = -1; // in `UPPER`: no bound was published
const COUNT = DATA.ids.length, WINDOWS = DATA.windows, MEASURES = DATA.measures;
const THRESHOLDS = typeof DATA.at_most === "number" ? null : Float64Array.from(DATA.at_most);
// Of groups: how many people are listed in each, and whether a share of them is asked about.
const SIZES = DATA.sizes || null, BY_SHARE = typeof DATA.tenths === "number";
const tenthsUp = (n, size) => Math.floor((1000 * n + size - 1) / size); // up: a share that is shown is never too small
const tenths = (n) => `${number(Math.floor(n / 10))}.${n % 10} %`;
const shareOf = (i) => (UPPER[i] === NONE ? 1000 : tenthsUp(UPPER[i], SIZES[i]));
// The least number, or share in tenths of a per cent, at which it is certain.
const neededBy = (i, upper) => (upper === NONE ? Infinity : BY_SHARE ? tenthsUp(upper, SIZES[i]) : upper);
const needed = (i) => neededBy(i, UPPER[i]);

// Each different answer stands once in a list; a condition is its number in that list.
const SAID = DATA.answers.said.map(([kind, upper, least]) => ({ kind, upper: upper === null ? NONE : upper, least }));
const CODES = decode(DATA.answers.codes, DATA.answers.bytes);
const TALLIES = tallyAll();
const UPPER = new Float64Array(COUNT), LOWER = DATA.has_lower ? new Float64Array(COUNT) : null;
const state = new Uint8Array(COUNT); // what the page shows now, of each place
let shown = []; // what it shows now, for each different answer
let chosen = null; // the reader's threshold, a number or a share in tenths; null shows the release as published
let at = Math.floor(WINDOWS.length / 2), measure = 0;

function decode(text, bytes) {
  const raw = atob(text), flat = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) flat[i] = raw.charCodeAt(i);
  if (bytes === 1) return flat;
  const wide = new Uint32Array(flat.length / bytes), view = new DataView(flat.buffer);
  for (let i = 0; i < wide.length; i++) wide[i] = bytes === 2 ? view.getUint16(2 * i, true) : view.getUint32(4 * i, true);
  return wide;
}

const sliceOf = (window) => (window * MEASURES.length + measure) * COUNT;

// How often each different answer was given in each window and measure.
function tallyAll() {
  return Array.from({ length: WINDOWS.length * MEASURES.length }, (_, slice) => {
    const counts = new Uint32Array(SAID.length);
    for (let i = slice * COUNT, end = i + COUNT; i < end; i++) counts[CODES[i]]++;
    return counts;
  });
}

// z <= t is certain at every t together, so reading the same bounds at another t costs nothing.
function kindOf(said, least = said.upper) {
  const bounded = said.upper !== NONE;
  if (chosen !== null) return bounded && least <= chosen ? AT_MOST : said.kind === AT_LEAST ? AT_LEAST : UNCLEAR;
  return said.kind === UNCLEAR && bounded && DATA.level ? HIGHER : said.kind;
}

function look(window, threshold) {
  at = window; chosen = threshold;
  shown = SAID.map((said) => kindOf(said));
  for (let i = 0, from = sliceOf(at); i < COUNT; i++) {
    const said = SAID[CODES[from + i]];
    state[i] = BY_SHARE ? kindOf(said, neededBy(i, said.upper)) : shown[CODES[from + i]]; UPPER[i] = said.upper;
    if (LOWER) LOWER[i] = said.least;
  }
}

// How many places are shown as each kind in a window.
function tally(window = at) {
  const counts = new Array(KINDS).fill(0);
  if (BY_SHARE) { state.forEach((kind) => { counts[kind]++; }); return counts; } // groups have one window
  TALLIES[window * MEASURES.length + measure].forEach((n, code) => { counts[shown[code]] += n; });
  return counts;
}

const kindIn = (window, i) => shown[CODES[sliceOf(window) + i]];
const share = (window) => tally(window)[AT_MOST] / COUNT;
const nameOf = (i) => (DATA.names && DATA.names[i]) || DATA.ids[i];
const regionOf = (i) => (DATA.regions ? DATA.regions.names[DATA.regions.index[i]] : "");
const thresholdOf = (i) => (chosen !== null ? (BY_SHARE ? Math.floor((chosen * SIZES[i]) / 1000) : chosen) : THRESHOLDS ? THRESHOLDS[i] : DATA.at_most);
const number = (value) => value.toLocaleString(LANGUAGE);
// A share that is not whole never looks whole.
const percent = (part) => `${part === 1 ? 100 : Math.min(99, Math.round(100 * part))} %`;

// The number that a kind stands for; null where places have numbers of their own.
function boundOf(kind) {
  if (kind === AT_MOST && BY_SHARE) return null;
  if (kind === AT_MOST) return chosen !== null ? chosen : THRESHOLDS ? null : DATA.at_most;
  if (kind === AT_LEAST) return DATA.at_least;
  const bounds = new Set(SAID.filter((said, code) => shown[code] === kind).map((said) => said.upper));
  return kind === HIGHER && !THRESHOLDS && bounds.size === 1 ? [...bounds][0] : null;
}

const askedShare = () => (chosen === null ? DATA.share : tenths(chosen));

// Words for a kind in general (legend); then without the noun, where it was said nearby.
function legendWords(kind, short = false) {
  const n = boundOf(kind), noun = short ? "-short" : "";
  if (kind === AT_MOST && BY_SHARE) return say(`answer.at-most-share${noun}`, { share: askedShare() });
  if (kind === AT_MOST) return n === null ? say("answer.at-most-own") : say(`answer.at-most${noun}`, { n });
  if (kind === HIGHER) return n === null ? say("answer.at-most-above") : say(`answer.at-most${noun}`, { n });
  if (kind === AT_LEAST) return say(`answer.at-least${noun}`, { n });
  return say(kind === UNCLEAR ? "answer.cannot-say" : "answer.not-asked");
}
const shortWords = (kind = AT_MOST) => legendWords(kind, true);

// A bound as a number, and as a share of those listed where their number is public.
const listedOf = (i) => ({ n: UPPER[i], size: SIZES[i], date: DATA.date, share: tenths(shareOf(i)) });
const boundWords = (i) => (SIZES ? say("answer.of", listedOf(i)) : number(UPPER[i]));
// How many of those listed are certainly not among those counted.
const restWords = (i) => say("answer.rest", { ...listedOf(i), share: tenths(1000 - shareOf(i)) });

// Words for one place: card and table say the same.
function words(i) {
  if ((state[i] !== AT_MOST && state[i] !== HIGHER) || UPPER[i] === NONE) return legendWords(state[i]);
  return SIZES ? say("answer.at-most-of", listedOf(i)) : say("answer.at-most", { n: UPPER[i] });
}

function explain(i) {
  const bound = UPPER[i], t = thresholdOf(i);
  if (state[i] === NOT_ASKED) return say("not_reached");
  if (state[i] === AT_LEAST) return say("may_be_wrong", { alpha: DATA.alpha, bound: boundWords(i) });
  if (state[i] === HIGHER) return say("certain_higher", { t });
  if (state[i] === UNCLEAR) return bound === NONE ? say("few_or_many") : say("certain_only", { t, bound: boundWords(i) });
  return say("certain");
}
