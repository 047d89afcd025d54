// The map: local metres, a view that pans and zooms, and one canvas that is painted at most once a frame.
const mapCanvas = document.getElementById("map");
const pen = mapCanvas.getContext("2d", { alpha: false });
const HAS_MAP = DATA.latitude !== null;
const EARTH = 40075016.7, DEGREE = Math.PI / 180, UNIT = 1e-5; // coordinates are stored in 1e-5 degrees
const mercator = (lat) => Math.log(Math.tan(Math.PI / 4 + (lat * DEGREE) / 2)) / (2 * Math.PI);
const view = { x: 0, y: 0, k: 1 }; // centre in metres, pixels per metre
let width = 0, height = 0, ratio = 1, painting = false, selected = -1, matched = null, whole = null;
let X = null, Y = null, origin = null;

function project(lat, lon) {
  return [(lon / 360 - origin.x) * origin.metres, (origin.y - mercator(lat)) * origin.metres];
}

function placeAll() {
  X = new Float64Array(COUNT); Y = new Float64Array(COUNT);
  const lats = DATA.latitude, lons = DATA.longitude;
  const sorted = (list) => Float64Array.from(list).sort();
  const middle = (list) => sorted(list)[list.length >> 1] * UNIT;
  const lat = middle(lats), lon = middle(lons);
  origin = { x: lon / 360, y: mercator(lat), metres: EARTH * Math.cos(lat * DEGREE) };
  for (let i = 0; i < COUNT; i++) [X[i], Y[i]] = project(lats[i] * UNIT, lons[i] * UNIT);
  // One distant place must not shrink the city: then the first view leaves out the far half-percent.
  const xs = Float64Array.from(X).sort(), ys = Float64Array.from(Y).sort();
  const box = (cut) => ({ left: xs[cut], right: xs[COUNT - 1 - cut], top: ys[cut], bottom: ys[COUNT - 1 - cut] });
  const all = box(0), most = box(Math.floor(COUNT * 0.005));
  const far = all.right - all.left > 2 * (most.right - most.left) || all.bottom - all.top > 2 * (most.bottom - most.top);
  whole = far ? most : all;
}

function fit(box) {
  const w = Math.max(box.right - box.left, 200), h = Math.max(box.bottom - box.top, 200);
  // Buttons stand at the top and the scale at the bottom: no mark begins beneath them.
  const head = 74, foot = 48;
  view.k = Math.min((width - 70) / w, (height - head - foot) / h);
  view.x = (box.left + box.right) / 2; view.y = (box.top + box.bottom) / 2 - (head - foot) / 2 / view.k;
  paint();
}

function zoom(factor, px = width / 2, py = height / 2) {
  const k = Math.min(4, Math.max(1e-5, view.k * factor));
  view.x += (px - width / 2) * (1 / view.k - 1 / k);
  view.y += (py - height / 2) * (1 / view.k - 1 / k);
  view.k = k;
  paint();
}

function resize() {
  const box = mapCanvas.getBoundingClientRect();
  if (!box.width) return;
  const first = width === 0;
  width = box.width; height = box.height; ratio = window.devicePixelRatio || 1;
  mapCanvas.width = Math.round(width * ratio); mapCanvas.height = Math.round(height * ratio);
  if (first) fit(whole); else paint();
}

function paint() {
  if (painting || !HAS_MAP || !width) return;
  painting = true;
  requestAnimationFrame(() => { painting = false; paintNow(); });
}

function paintNow() {
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = ink.paper;
  pen.fillRect(0, 0, width, height);
  if (DATA.basemap) paintBasemap(); else paintGrid();
  const seen = visible();
  const crowded = seen.length > 1500 && seen.perCell > 6;
  note(crowded);
  clearRoom();
  if (crowded) paintBins(seen); else paintMarks(seen);
  if (selected >= 0) paintSelected();
  paintRegions();
  if (DATA.basemap) paintBasemapNames();
  paintScale();
  mapCanvas.dataset.painted = `${seen.length}`;
  mapCanvas.dataset.kind = crowded ? "bins" : "marks";
}

const toX = (x) => (x - view.x) * view.k + width / 2;
const toY = (y) => (y - view.y) * view.k + height / 2;

function visible() {
  const list = new Int32Array(COUNT), cells = new Set(), rooms = new Set(), pad = 20;
  let n = 0;
  for (let i = 0; i < COUNT; i++) {
    const x = toX(X[i]), y = toY(Y[i]);
    if (x < -pad || y < -pad || x > width + pad || y > height + pad) continue;
    list[n++] = i;
    cells.add((x / 8 | 0) * 65536 + (y / 8 | 0));
    rooms.add((x / 24 | 0) * 65536 + (y / 24 | 0));
  }
  const seen = list.subarray(0, n);
  seen.perCell = n / Math.max(1, cells.size);
  seen.perRoom = n / Math.max(1, rooms.size); // of a size that a mark with text needs
  return seen;
}

// A mark that would cover another carries no text: half of a number reads as another number.
function bareMarks(seen, r) {
  const over = new Uint16Array(across * down), bare = new Set();
  const box = (i, wide) => [toX(X[i]) - r - wide, toY(Y[i]) - r, toX(X[i]) + r + wide, toY(Y[i]) + r];
  const put = (i, wide, by) => eachCell(...box(i, wide), (cell) => { over[cell] += by; return false; });
  for (const i of seen) put(i, 0, 1);
  for (const i of seen) {
    const wide = widen(pen, state[i], r, markText(state[i], boundMark(i)));
    put(i, 0, -1);
    if (eachCell(...box(i, wide), (cell) => over[cell] > 0)) { bare.add(i); put(i, 0, 1); } else put(i, wide, 1);
  }
  return bare;
}

function paintMarks(seen) {
  const spacing = Math.sqrt((width * height) / Math.max(1, seen.length));
  const largest = seen.perRoom > 1.4 ? 6 : width < 500 ? 9 : 11;
  const r = Math.round(Math.min(largest, Math.max(3, spacing * 0.2)) * 2) / 2;
  const faint = matched !== null, texts = r >= 8, reach = {};
  const bare = texts ? bareMarks(seen, r) : new Set();
  // The rarer the kind, the later it is drawn, so that it is never hidden under the common one.
  const counts = new Array(KINDS).fill(0);
  for (const i of seen) counts[state[i]]++;
  const order = counts.map((n, kind) => kind).filter((kind) => counts[kind]).sort((a, b) => counts[b] - counts[a]);
  for (const kind of order) {
    const { sheet, side } = stamp(kind, r, ratio);
    for (const i of seen) {
      if (state[i] !== kind) continue;
      const x = toX(X[i]), y = toY(Y[i]), here = !faint || matched[i] === 1;
      pen.globalAlpha = here ? 1 : 0.15;
      reach[i] = r;
      if (texts && here && !bare.has(i)) reach[i] += drawMarkWithText(pen, kind, x, y, r, boundMark(i));
      else pen.drawImage(sheet, x - side / 2, y - side / 2, side, side);
      take(x - reach[i], y - r, x + reach[i], y + r);
    }
  }
  pen.globalAlpha = 1;
  if (selected in reach) {
    // The ring around the place that was picked, which is drawn last, hides no name.
    const x = toX(X[selected]), y = toY(Y[selected]);
    reach[selected] = 22 + widen(pen, state[selected], 11, markText(state[selected], boundMark(selected)));
    take(x - reach[selected] + 4, y - 18, x + reach[selected] - 4, y + 18);
  }
  if (texts) paintNames(seen, reach);
}

function paintBins(seen) {
  // The grid is fixed to the ground at powers of two, so that panning does not make it shimmer.
  const cell = 2 ** Math.round(Math.log2(15 / view.k)), bins = new Map();
  for (const i of seen) {
    if (matched !== null && !matched[i]) continue;
    const cx = Math.floor(X[i] / cell), cy = Math.floor(Y[i] / cell), key = cx * 1e7 + cy;
    let bin = bins.get(key);
    if (!bin) bins.set(key, (bin = { cx, cy, n: 0, of: new Array(KINDS).fill(0) }));
    bin.n++; bin.of[state[i]]++;
  }
  const side = cell * view.k;
  let most = 1;
  for (const bin of bins.values()) most = Math.max(most, bin.n);
  for (const bin of bins.values()) {
    const size = Math.max(4.5, (side - 2) * Math.min(1, 0.4 + 0.6 * Math.sqrt(bin.n / Math.min(most, 24))));
    const x = toX((bin.cx + 0.5) * cell), y = toY((bin.cy + 0.5) * cell);
    drawBin(pen, x, y, size, bin.of.map((n) => n / bin.n));
    take(x - size / 2, y - size / 2, x + size / 2, y + size / 2);
  }
}

function paintSelected() {
  const x = toX(X[selected]), y = toY(Y[selected]);
  const wide = drawMarkWithText(pen, state[selected], x, y, 11, boundMark(selected));
  pen.strokeStyle = ink.ink; pen.lineWidth = 3;
  pen.beginPath(); pen.roundRect(x - 16 - wide, y - 16, 2 * (16 + wide), 32, 16); pen.stroke();
  take(x - 18 - wide, y - 18, x + 18 + wide, y + 18);
}

function paintGrid() {
  const step = niceLength(170 / view.k), left = view.x - width / 2 / view.k, top = view.y - height / 2 / view.k;
  pen.strokeStyle = ink.grid; pen.lineWidth = 1;
  pen.beginPath();
  for (let x = Math.ceil(left / step) * step; toX(x) < width; x += step) { pen.moveTo(toX(x), 0); pen.lineTo(toX(x), height); }
  for (let y = Math.ceil(top / step) * step; toY(y) < height; y += step) { pen.moveTo(0, toY(y)); pen.lineTo(width, toY(y)); }
  pen.stroke();
}

function niceLength(metres) {
  const power = 10 ** Math.floor(Math.log10(metres)), lead = metres / power;
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
}

function paintScale() {
  const metres = niceLength(110 / view.k), bar = document.getElementById("scale");
  bar.style.width = `${metres * view.k}px`;
  bar.firstElementChild.textContent = say(metres >= 1000 ? "km" : "m", { n: metres >= 1000 ? metres / 1000 : metres });
}

function note(crowded) {
  const box = document.getElementById("bins-note");
  box.hidden = !crowded;
  if (crowded) {
    const key = shown.includes(HIGHER) ? "bins_higher" : DATA.legend.includes(STATES[NOT_ASKED]) ? "bins_not_asked" : "bins";
    box.textContent = say(key, { words: lower(legendWords(AT_MOST)), higher: lower(shortWords(HIGHER)) });
  }
}
