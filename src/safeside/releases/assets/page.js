// Everything around the map: legend, slider, search, tabs, age; then the first painting.
const byId = (id) => document.getElementById(id);

function buildLegend() {
  const counts = tally(), shown = [AT_MOST, AT_LEAST, UNCLEAR, NOT_ASKED].filter((kind) => DATA.legend.includes(STATES[kind]));
  byId("legend").replaceChildren(...shown.map((kind) => {
    const row = document.createElement("li");
    row.dataset.state = STATES[kind];
    row.append(markCanvas(kind), element("b", legendWords(kind)), element("span", number(counts[kind]), "n"));
    return row;
  }));
  return counts;
}

function refresh() {
  const counts = buildLegend();
  if (DATA.slider) {
    byId("slider-count").textContent = `${number(counts[AT_MOST])} of ${number(COUNT)} places.`;
    byId("slider-label").textContent = `Read it at another number: ${byId("slider").value}`;
    byId("slider-reset").hidden = chosen === null;
    drawHistogram();
  }
  if (selected >= 0) pick(selected);
  if (sortKey === "answer") relist(); else { first = -1; fillRows(); }
  paint();
}

function drawHistogram() {
  const canvas = byId("histogram"), scale = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (!w) return;
  canvas.width = w * scale; canvas.height = h * scale;
  const brush = canvas.getContext("2d"), most = DATA.slider_most;
  // Where there are more numbers than room for bars, a bar stands for several.
  const per = Math.ceil((most + 1) / 300), bars = new Array(Math.ceil((most + 1) / per)).fill(0);
  brush.scale(scale, scale);
  for (let i = 0; i < COUNT; i++) if (UPPER[i] !== NONE && UPPER[i] <= most) bars[Math.floor(UPPER[i] / per)]++;
  // Bars stand where the slider's thumb stands: the thumb travels the width less its own.
  const thumb = 16, top = Math.max(...bars, 1), gap = (w - thumb) / Math.max(1, bars.length - 1), wide = Math.max(2, Math.min(16, gap - 2));
  const t = Number(byId("slider").value);
  bars.forEach((n, at) => {
    const bound = at * per;
    const tall = n ? Math.max(1.5, (h - 4) * Math.sqrt(n / top)) : 0;
    brush.fillStyle = bound <= t ? ink["at-most"] : ink["unclear-fill"];
    brush.strokeStyle = bound <= t ? ink["at-most"] : ink.unclear;
    brush.lineWidth = 1;
    const x = thumb / 2 + at * gap - wide / 2;
    if (tall) { brush.fillRect(x, h - tall, wide, tall); brush.strokeRect(x + 0.5, h - tall + 0.5, Math.max(1, wide - 1), tall - 1); }
  });
}

function buildSlider() {
  byId("slider-box").hidden = !DATA.slider;
  byId("slider-absent").hidden = DATA.slider;
  if (!DATA.slider) return;
  const slider = byId("slider"), published = THRESHOLDS ? THRESHOLDS.reduce((a, b) => Math.max(a, b)) : DATA.at_most;
  slider.max = DATA.slider_most;
  slider.value = published;
  slider.setAttribute("aria-describedby", "slider-count");
  slider.addEventListener("input", () => {
    const t = Number(slider.value);
    choose(!THRESHOLDS && t === DATA.at_most ? null : t);
    refresh();
  });
  byId("slider-reset").onclick = () => { slider.value = published; choose(null); refresh(); slider.focus(); };
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
    byId("search-count").textContent = needle ? `${number(found)} of ${number(COUNT)} places match.` : idle;
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
  byId("age").textContent = days < 0 ? "" : days === 0 ? " (today)" : days === 1 ? " (1 day ago)" : ` (${number(days)} days ago)`;
}

function start() {
  readColours();
  if (HAS_MAP) { placeAll(); listenToMap(); new ResizeObserver(resize).observe(mapCanvas); }
  buildTabs(); buildSlider(); buildSearch(); sayAge();
  scroller.addEventListener("scroll", fillRows, { passive: true });
  new ResizeObserver(() => { first = -1; fillRows(); drawHistogram(); }).observe(scroller);
  relist(); refresh();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours(); stamps.clear(); images.clear(); refresh();
  });
  document.body.dataset.ready = "yes";
}
start();
