// The clock: which window is shown, by a slider, step by step, by playing, or by a click on the chart of shares.
const STEP_TIME = 1100; // milliseconds of a window while it plays
const THUMB = 16; // pixels: the thumb of a slider travels its width less its own
const calm = matchMedia("(prefers-reduced-motion: reduce)");
let playing = 0;

function buildClock() {
  byId("clock").hidden = WINDOWS.length < 2;
  if (WINDOWS.length < 2) return;
  const slider = byId("hour"), chart = byId("shares");
  slider.max = WINDOWS.length - 1;
  slider.addEventListener("input", () => { pause(); goTo(Number(slider.value)); });
  byId("earlier").onclick = () => { pause(); goTo(Math.max(0, at - 1)); };
  byId("later").onclick = () => { pause(); goTo(Math.min(WINDOWS.length - 1, at + 1)); };
  byId("play").onclick = () => { if (playing) pause(); else play(); };
  const pointed = (event) => {
    const along = Math.floor((event.offsetX / Math.max(1, chart.clientWidth)) * WINDOWS.length);
    pause(); goTo(Math.max(0, Math.min(WINDOWS.length - 1, along)));
  };
  chart.addEventListener("pointerdown", pointed);
  chart.addEventListener("pointermove", (event) => { if (event.buttons) pointed(event); });
  // Who asked for less motion steps by hand: nothing moves by itself.
  const still = () => { byId("play").hidden = calm.matches; if (calm.matches) pause(); };
  calm.addEventListener("change", still);
  document.addEventListener("visibilitychange", () => { if (document.hidden) pause(); });
  still();
}

function goTo(window) {
  if (window === at) return;
  look(window, chosen);
  refresh();
}

function play() {
  if (at === WINDOWS.length - 1) goTo(0);
  playing = setInterval(() => { if (at < WINDOWS.length - 1) goTo(at + 1); else pause(); }, STEP_TIME);
  sayPlaying();
}

function pause() {
  if (!playing) return;
  clearInterval(playing); playing = 0;
  sayPlaying();
}

function sayPlaying() {
  const button = byId("play");
  button.textContent = say(playing ? "pause" : "play");
  button.dataset.playing = playing ? "yes" : "no";
  // A voice that reads every step aloud while it plays would never catch up.
  byId("clock-share").setAttribute("aria-live", playing ? "off" : "polite");
}

function sayClock(counts) {
  if (WINDOWS.length < 2) return;
  const slider = byId("hour"), told = say("places", { n: counts[AT_MOST], all: COUNT });
  slider.value = at;
  slider.setAttribute("aria-valuetext", WINDOWS[at].label);
  byId("clock-time").textContent = WINDOWS[at].time;
  byId("clock-day").textContent = WINDOWS[at].day;
  byId("clock-share").textContent = told;
  const pale = shown.includes(HIGHER) ? { key: "shares_higher", higher: lower(shortWords(HIGHER)) } : { key: "shares" };
  byId("shares-title").textContent = say(pale.key, { ...pale, words: lower(shortWords()), unit: DATA.units[0] });
  byId("earlier").disabled = at === 0; byId("later").disabled = at === WINDOWS.length - 1;
  drawShares();
}

// The share of places certified in each window: linear from 0 to all, each bar above its stop of the slider.
function drawShares() {
  const chart = byId("shares"), scale = window.devicePixelRatio || 1, w = chart.clientWidth, h = chart.clientHeight;
  if (!w || WINDOWS.length < 2) return;
  chart.width = w * scale; chart.height = h * scale;
  const brush = chart.getContext("2d"), n = WINDOWS.length, cell = w / n, wide = Math.max(1, Math.min(26, cell * 0.72));
  const foot = 14, head = 4, tall = h - foot - head, every = Math.ceil(42 / cell);
  byId("hour").style.width = `${w - cell + THUMB}px`; byId("hour").style.marginLeft = `${(cell - THUMB) / 2}px`;
  brush.scale(scale, scale);
  brush.font = `10px ${FONT}`; brush.textBaseline = "alphabetic"; brush.textAlign = "center";
  for (let window = 0; window < n; window++) {
    const counts = tally(window), middle = (window + 0.5) * cell, x = middle - wide / 2, now = window === at;
    // A bar that is not full never looks full.
    const full = counts[AT_MOST] === COUNT ? tall : Math.min(tall - 1.5, tall * (counts[AT_MOST] / COUNT));
    const pale = Math.min(tall - full, tall * (counts[HIGHER] / COUNT));
    brush.fillStyle = ink["unclear-fill"]; brush.fillRect(x, head, wide, tall);
    brush.fillStyle = ink.higher; brush.fillRect(x, head + tall - full - pale, wide, pale);
    brush.fillStyle = ink["at-most"]; brush.fillRect(x, head + tall - full, wide, full);
    brush.strokeStyle = now ? ink.ink : ink.unclear; brush.lineWidth = now ? 3 : 0.7;
    brush.strokeRect(x, head, wide, tall);
    brush.fillStyle = now ? ink.ink : ink.soft;
    if (window % every === 0) brush.fillText(WINDOWS[window].short, Math.max(15, Math.min(w - 15, middle)), h - 2);
  }
  const shares = WINDOWS.map((_, window) => share(window)), low = Math.min(...shares), high = Math.max(...shares);
  chart.setAttribute("aria-label", say("chart", {
    words: lower(legendWords(AT_MOST)), unit: DATA.units[0], low: percent(low), low_when: WINDOWS[shares.indexOf(low)].label,
    high: percent(high), high_when: WINDOWS[shares.indexOf(high)].label,
  }));
}
