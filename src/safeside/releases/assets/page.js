// Everything around the map: legend, slider, search, tabs, age; then the first painting.

function buildLegend() {
  const counts = tally(), kinds = [AT_MOST, HIGHER, AT_LEAST, UNCLEAR, NOT_ASKED];
  const rows = kinds.filter((kind) => (kind === HIGHER ? shown.includes(HIGHER) : DATA.legend.includes(STATES[kind])));
  byId("legend-title").textContent = WINDOWS.length > 1 ? say("legend_at", { when: WINDOWS[at].time }) : say("legend");
  byId("legend").replaceChildren(...rows.flatMap((kind) => {
    const row = document.createElement("li");
    row.dataset.state = STATES[kind] || "HIGHER";
    row.append(markCanvas(kind, legendMark(kind)), element("b", legendWords(kind)), element("span", number(counts[kind]), "n"));
    return [row, ...levels(kind)];
  }));
  return counts;
}

// Where no slider shows it, a legend says of how many even less than the number asked about is certain.
function levels(kind) {
  if (DATA.slider || THRESHOLDS || kind !== AT_MOST) return [];
  const counts = new Map();
  TALLIES[at * MEASURES.length + measure].forEach((n, code) => {
    const bound = SAID[code].upper;
    if (n && shown[code] === kind && bound < DATA.at_most) counts.set(bound, (counts.get(bound) || 0) + n);
  });
  return [...counts].sort((a, b) => a[0] - b[0]).slice(0, 4).map(([bound, n]) => {
    const row = element("li", "", "level");
    row.append(element("span"), element("span", say("of_these", { bound })), element("span", number(n), "n"));
    return row;
  });
}

function refresh() {
  const counts = buildLegend();
  sayClock(counts);
  document.querySelectorAll("[data-threshold]").forEach((node) => { node.textContent = legendWords(AT_MOST); });
  if (DATA.slider) {
    byId("slider-count").textContent = `${say("places", { n: counts[AT_MOST], all: COUNT })}.`;
    const t = Number(byId("slider").value);
    byId("slider-label").textContent = BY_SHARE ? say("read_at_share", { share: tenths(t) }) : say("read_at", { n: t });
    byId("slider-reset").hidden = chosen === null;
    drawHistogram();
  }
  if (selected >= 0) pick(selected);
  if (sortKey === "name" || sortKey === "region") { sayCaption(); first = -1; fillRows(); } else relist();
  paint();
}

function drawHistogram() {
  const canvas = byId("histogram"), scale = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (!w) return;
  canvas.width = w * scale; canvas.height = h * scale;
  const brush = canvas.getContext("2d"), most = Number(byId("slider").max), t = Number(byId("slider").value);
  // Where there are more numbers than room for bars, a bar stands for several.
  const per = Math.ceil((most + 1) / 300), bars = new Array(Math.ceil(most / per) + 1).fill(0);
  brush.scale(scale, scale);
  for (let i = 0; i < COUNT; i++) if (needed(i) <= most) bars[Math.ceil(needed(i) / per)]++;
  // Bars stand where the slider's thumb stands; heights are linear, and the tallest says how many it is.
  const top = Math.max(...bars, 1), gap = (w - THUMB) / Math.max(1, bars.length - 1), wide = Math.max(2, Math.min(16, gap - 2));
  const head = 16, foot = 14, tall = h - head - foot;
  brush.font = `10px ${FONT}`; brush.textBaseline = "alphabetic";
  bars.forEach((n, bar) => {
    const bound = bar * per, high = n ? Math.max(1.5, (tall * n) / top) : 0, x = THUMB / 2 + bar * gap - wide / 2;
    brush.fillStyle = bound <= t ? ink["at-most"] : ink["unclear-fill"];
    brush.strokeStyle = bound <= t ? ink["at-most"] : ink.unclear;
    brush.lineWidth = 1;
    if (high) { brush.fillRect(x, head + tall - high, wide, high); brush.strokeRect(x + 0.5, head + tall - high + 0.5, Math.max(1, wide - 1), Math.max(0.5, high - 1)); }
  });
  brush.strokeStyle = ink.soft; brush.beginPath(); brush.moveTo(0, head + tall + 0.5); brush.lineTo(w, head + tall + 0.5); brush.stroke();
  brush.fillStyle = ink.soft;
  const best = bars.indexOf(top), x = THUMB / 2 + best * gap;
  brush.textAlign = x < 40 ? "left" : "center"; brush.fillText(number(top), x < 40 ? 0 : x, head - 4);
  const every = Math.max(1, Math.ceil((most / Math.max(1, w - THUMB)) * (BY_SHARE ? 60 : 34)));
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((one) => one >= every) || every, told = BY_SHARE ? tenths : (bound) => bound;
  brush.textAlign = "center";
  for (let bound = 0; bound <= most; bound += step) {
    const text = `≤${told(bound)}`, half = Math.max(8, brush.measureText(text).width / 2);
    brush.fillText(text, Math.max(half, Math.min(w - half - 2, THUMB / 2 + (bound / per) * gap)), h - 2);
  }
}

function buildSlider() {
  byId("slider-box").hidden = !DATA.slider;
  byId("slider-absent").hidden = DATA.slider;
  if (!DATA.slider) return;
  const slider = byId("slider"), published = BY_SHARE ? DATA.tenths : THRESHOLDS ? THRESHOLDS.reduce((a, b) => Math.max(a, b)) : DATA.at_most;
  slider.max = BY_SHARE ? Math.min(1000, Math.max(200, 4 * published)) : DATA.slider_most;
  slider.value = published;
  slider.setAttribute("aria-describedby", "slider-count");
  slider.addEventListener("input", () => {
    const t = Number(slider.value);
    look(at, !BY_SHARE && !THRESHOLDS && t === DATA.at_most ? null : t);
    refresh();
  });
  byId("slider-reset").textContent = THRESHOLDS || BY_SHARE ? say("reset_own") : say("reset", { n: published });
  byId("slider-reset").onclick = () => { slider.value = published; look(at, null); refresh(); slider.focus(); };
}

function buildMeasures() {
  const box = byId("measure");
  byId("measure-box").hidden = MEASURES.length < 2;
  box.replaceChildren(...MEASURES.map((name, n) => { const option = element("option", name); option.value = n; return option; }));
  box.onchange = () => { measure = Number(box.value); look(at, chosen); refresh(); };
}

const hay = DATA.ids.map((id, i) => `${id}\n${DATA.names ? DATA.names[i] || "" : ""}\n${regionOf(i)}`.toLowerCase());
function buildSearch() {
  const box = byId("search"), idle = byId("search-count").textContent;
  let timer = 0;
  const search = () => {
    const needle = box.value.trim().toLowerCase();
    let found = 0;
    matched = needle ? new Uint8Array(COUNT) : null;
    if (needle) for (let i = 0; i < COUNT; i++) if (hay[i].includes(needle)) { matched[i] = 1; found++; }
    byId("search-count").textContent = needle ? say("places_match", { n: found, all: COUNT }) : idle;
    if (selected >= 0 && matched && !matched[selected]) pick(-1);
    relist(); scroller.scrollTop = 0; paint();
  };
  box.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 120); });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    clearTimeout(timer); search();
    const hits = matched ? [...listed] : [];
    if (!hits.length || !HAS_MAP) return;
    if (hits.length === 1) { show(hits[0]); return; }
    const xs = hits.map((i) => X[i]), ys = hits.map((i) => Y[i]);
    const least = (list) => list.reduce((a, b) => Math.min(a, b)), most = (list) => list.reduce((a, b) => Math.max(a, b));
    fit({ left: least(xs), right: most(xs), top: least(ys), bottom: most(ys) });
  });
}

function openTab(name) {
  for (const one of ["map", "table"]) {
    byId(`${one}-view`).hidden = one !== name;
    byId(`tab-${one}`).setAttribute("aria-selected", `${one === name}`);
    byId(`tab-${one}`).tabIndex = one === name ? 0 : -1;
  }
  if (name === "table") { first = -1; fillRows(); } else resize();
}

function buildTabs() {
  const tabs = [byId("tab-map"), byId("tab-table")];
  tabs.forEach((tab, n) => {
    tab.onclick = () => openTab(n ? "table" : "map");
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      tabs[1 - n].focus(); tabs[1 - n].click();
    });
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); openTab("table"); scroller.focus();
  });
  if (!HAS_MAP) { tabs[0].hidden = true; openTab("table"); }
}

function sayAge() {
  const days = Math.floor((Date.now() - Date.parse(DATA.known_on)) / 864e5);
  byId("age").textContent = days < 0 ? "" : days === 0 ? say("today") : say("days_ago", { n: days });
}

function start() {
  readColours();
  look(at, null);
  if (HAS_MAP) { placeAll(); listenToMap(); new ResizeObserver(resize).observe(mapCanvas); }
  buildTabs(); buildClock(); buildMeasures(); buildSlider(); buildSearch(); sayAge();
  scroller.addEventListener("scroll", fillRows, { passive: true });
  new ResizeObserver(() => { measureRows(); first = -1; fillRows(); }).observe(scroller);
  new ResizeObserver(() => { if (DATA.slider) drawHistogram(); drawShares(); }).observe(document.body);
  relist(); refresh();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours(); stamps.clear(); images.clear(); refresh();
  });
  document.body.dataset.ready = "yes";
}
start();
