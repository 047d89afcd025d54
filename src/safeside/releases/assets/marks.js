// One mark for each kind of answer: told apart by shape and fill, then by colour, then by text.
const root = document.documentElement;
const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
const FONT = "system-ui, sans-serif";
let ink = {};
function readColours() {
  for (const name of ["paper", "panel", "ink", "soft", "grid", "at-most", "at-most-ink", "higher", "unclear", "unclear-fill",
    "at-least", "at-least-ink", "not-asked", "halo", "water", "green", "land", "built", "road", "road-edge", "rail", "label",
    "water-label", "green-label", "focus", "line"]) {
    ink[name] = colour(name);
  }
}

// A full disc, a pale disc with a rim, an empty ring, a triangle, a short bar: distinct at 5 pixels and in grey.
// What cannot be said is empty and grey: neither its shape nor its colour is one of a warning.
function drawMark(pen, kind, x, y, r, wide = 0) {
  pen.lineJoin = pen.lineCap = "round";
  pen.beginPath();
  if (kind === AT_LEAST) {
    const d = r * 1.25;
    pen.moveTo(x, y - d); pen.lineTo(x + d, y + d * 0.8); pen.lineTo(x - d, y + d * 0.8); pen.closePath();
    pen.fillStyle = ink["at-least"]; pen.strokeStyle = ink.halo; pen.lineWidth = Math.max(0.6, r / 7);
  } else if (kind === NOT_ASKED) {
    pen.moveTo(x - r * 0.75, y); pen.lineTo(x + r * 0.75, y);
    pen.fillStyle = "transparent"; pen.strokeStyle = ink["not-asked"]; pen.lineWidth = Math.max(1.4, r / 2.6);
  } else {
    // With text a disc grows sideways, as far as the text needs.
    const inner = kind === UNCLEAR ? r * 0.86 : kind === HIGHER ? r * 0.92 : r;
    pen.roundRect(x - inner - wide, y - inner, 2 * (inner + wide), 2 * inner, inner);
    pen.fillStyle = kind === AT_MOST ? ink["at-most"] : kind === HIGHER ? ink.higher : ink["unclear-fill"];
    pen.strokeStyle = kind === AT_MOST ? ink.halo : kind === HIGHER ? ink["at-most"] : ink.unclear;
    pen.lineWidth = kind === AT_MOST ? Math.max(0.6, r / 7) : Math.max(1.1, r / 6);
  }
  pen.fill(); pen.stroke();
}

// Large marks carry text as well. A bound always has its sign: a bare "1" would read as one person.
const signed = (bound) => `≤${bound < 1e4 ? bound : bound.toExponential(0)}`;
// What stands in the mark of one place: a share where shares are asked about, or "16" would read as 16 %.
const boundMark = (i) => (UPPER[i] === NONE ? "" : BY_SHARE ? `≤${tenths(shareOf(i))}` : signed(UPPER[i]));
function legendMark(kind) {
  if (kind === AT_MOST && BY_SHARE) return `≤${askedShare()}`;
  return boundOf(kind) === null ? "" : signed(boundOf(kind));
}

function markText(kind, bound) {
  if (kind === AT_MOST || kind === HIGHER) return bound;
  return kind === UNCLEAR ? "?" : kind === AT_LEAST ? "≥" : "";
}

const markFont = (r) => `600 ${Math.round(r * 1.15)}px ${FONT}`;

// How far a mark reaches sideways beyond its radius to hold its text.
function widen(pen, kind, r, text) {
  if (kind !== AT_MOST && kind !== HIGHER) return 0;
  pen.font = markFont(r);
  return Math.max(0, pen.measureText(text).width / 2 + 4 - r);
}

function drawMarkWithText(pen, kind, x, y, r, bound) {
  const text = markText(kind, bound), wide = widen(pen, kind, r, text);
  drawMark(pen, kind, x, y, r, wide);
  pen.fillStyle = kind === AT_MOST ? ink["at-most-ink"] : kind === HIGHER ? ink.ink : kind === AT_LEAST ? ink["at-least-ink"] : ink.unclear;
  pen.font = markFont(r); pen.textAlign = "center"; pen.textBaseline = "middle";
  pen.fillText(text, x, y + (kind === AT_LEAST ? r * 0.28 : r * 0.08));
  return wide;
}

// Marks are painted once and stamped: 100,000 stamps are quick, 100,000 paths are not.
const stamps = new Map();
function stamp(kind, r, scale) {
  const key = `${kind}/${r}/${scale}`;
  if (!stamps.has(key)) {
    const side = Math.ceil(r * 3) + 2, sheet = document.createElement("canvas");
    sheet.width = sheet.height = Math.ceil(side * scale);
    const pen = sheet.getContext("2d");
    pen.scale(scale, scale);
    drawMark(pen, kind, side / 2, side / 2, r);
    stamps.set(key, { sheet, side });
  }
  return stamps.get(key);
}

// The mark as an element of its own: with a bound, as the map shows it where there is room for text.
function markCanvas(kind, bound = "") {
  const sheet = document.createElement("canvas"), scale = window.devicePixelRatio || 1, pen = sheet.getContext("2d");
  const text = markText(kind, bound), r = text ? 10 : 7, wide = text ? widen(pen, kind, r, text) : 0;
  const across = Math.max(22, Math.ceil(2 * (r + wide)) + 4), high = r > 7 ? 26 : 22;
  sheet.width = across * scale; sheet.height = high * scale;
  sheet.style.width = `${across}px`; sheet.style.height = `${high}px`;
  sheet.setAttribute("aria-hidden", "true");
  pen.scale(scale, scale);
  if (text && r > 7) drawMarkWithText(pen, kind, across / 2, high / 2, r, bound); else drawMark(pen, kind, across / 2, high / 2, r);
  return sheet;
}

// A square for many places: filled from below by the share that is "at most"; hollow where nothing is said.
function drawBin(pen, x, y, side, shares) {
  const left = x - side / 2, top = y - side / 2, all = shares[AT_MOST] === 1;
  // A square that is not full never looks full.
  const filled = all ? side : Math.min(side - 2, Math.round(side * shares[AT_MOST] * 2) / 2);
  pen.fillStyle = ink["unclear-fill"]; pen.fillRect(left, top, side, side);
  pen.fillStyle = ink["at-most"]; pen.fillRect(left, top + side - filled, side, filled);
  if (shares[HIGHER] > 0) {
    const pale = Math.min(side - filled, side * shares[HIGHER]);
    pen.fillStyle = ink.higher; pen.fillRect(left, top + side - filled - pale, side, pale);
  }
  if (shares[NOT_ASKED] > 0) {
    pen.fillStyle = ink["not-asked"]; pen.globalAlpha = 0.55;
    pen.fillRect(left, top, side, side * shares[NOT_ASKED]); pen.globalAlpha = 1;
  }
  pen.strokeStyle = ink.unclear; pen.lineWidth = 0.8; pen.strokeRect(left, top, side, side);
  if (shares[AT_LEAST] > 0) drawMark(pen, AT_LEAST, x, y, Math.min(5, side / 2.6));
}
