// One mark for each state: told apart by shape and fill, then by colour, then by text.
const root = document.documentElement;
const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
let ink = {};
function readColours() {
  for (const name of ["paper", "ink", "soft", "grid", "at-most", "at-most-ink", "unclear", "unclear-fill",
    "at-least", "at-least-ink", "not-asked", "halo", "water", "green", "land", "road", "label", "focus", "line"]) {
    ink[name] = colour(name);
  }
}

// A filled disc, a hollow diamond, a filled triangle, a short bar: distinct even at 5 pixels and in grey.
function drawMark(pen, kind, x, y, r) {
  pen.lineJoin = "round";
  pen.beginPath();
  if (kind === AT_MOST) {
    pen.arc(x, y, r, 0, 2 * Math.PI);
    pen.fillStyle = ink["at-most"]; pen.strokeStyle = ink.halo; pen.lineWidth = Math.max(0.6, r / 7);
    pen.fill(); pen.stroke();
  } else if (kind === UNCLEAR) {
    const d = r * 1.16;
    pen.moveTo(x, y - d); pen.lineTo(x + d, y); pen.lineTo(x, y + d); pen.lineTo(x - d, y); pen.closePath();
    pen.fillStyle = ink["unclear-fill"]; pen.strokeStyle = ink.unclear; pen.lineWidth = Math.max(1.2, r / 4.5);
    pen.fill(); pen.stroke();
  } else if (kind === AT_LEAST) {
    const d = r * 1.25;
    pen.moveTo(x, y - d); pen.lineTo(x + d, y + d * 0.8); pen.lineTo(x - d, y + d * 0.8); pen.closePath();
    pen.fillStyle = ink["at-least"]; pen.strokeStyle = ink.halo; pen.lineWidth = Math.max(0.6, r / 7);
    pen.fill(); pen.stroke();
  } else {
    pen.moveTo(x - r * 0.75, y); pen.lineTo(x + r * 0.75, y);
    pen.strokeStyle = ink["not-asked"]; pen.lineWidth = Math.max(1.4, r / 2.6); pen.lineCap = "round";
    pen.stroke();
  }
}

// Large marks carry text as well: the bound for "at most", a question mark for "cannot say".
function drawMarkText(pen, kind, x, y, r, bound) {
  const text = kind === AT_MOST ? (bound === NONE ? "" : `${bound}`) : kind === UNCLEAR ? "?" : kind === AT_LEAST ? "≥" : "";
  if (!text) return;
  pen.fillStyle = kind === AT_MOST ? ink["at-most-ink"] : kind === UNCLEAR ? ink.unclear : ink["at-least-ink"];
  pen.font = `600 ${Math.round(r * 1.25)}px system-ui, sans-serif`;
  pen.textAlign = "center"; pen.textBaseline = "middle";
  pen.fillText(text, x, y + (kind === AT_LEAST ? r * 0.28 : r * 0.06));
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

function markCanvas(kind) {
  const sheet = document.createElement("canvas"), scale = window.devicePixelRatio || 1;
  sheet.width = sheet.height = 22 * scale;
  sheet.setAttribute("aria-hidden", "true");
  const pen = sheet.getContext("2d");
  pen.scale(scale, scale);
  drawMark(pen, kind, 11, 11, 7);
  return sheet;
}

// A square for many places: filled from below by the share that is "at most"; hollow where nothing is said.
function drawBin(pen, x, y, side, shares) {
  const left = x - side / 2, top = y - side / 2, all = shares[AT_MOST] === 1;
  // A square that is not full never looks full.
  const filled = all ? side : Math.min(side - 2, Math.round(side * shares[AT_MOST] * 2) / 2);
  pen.fillStyle = ink["unclear-fill"]; pen.fillRect(left, top, side, side);
  pen.fillStyle = ink["at-most"]; pen.fillRect(left, top + side - filled, side, filled);
  if (shares[NOT_ASKED] > 0) {
    pen.fillStyle = ink["not-asked"]; pen.globalAlpha = 0.55;
    pen.fillRect(left, top, side, side * shares[NOT_ASKED]); pen.globalAlpha = 1;
  }
  pen.strokeStyle = ink.unclear; pen.lineWidth = 0.8; pen.strokeRect(left, top, side, side);
  if (shares[AT_LEAST] > 0) drawMark(pen, AT_LEAST, x, y, Math.min(5, side / 2.6));
}
