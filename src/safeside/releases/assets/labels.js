// Names on the map. A name is written only where it hides no mark, no other name and no button.
const GRAIN = 4; // pixels of a cell that is either taken or free
let taken = null, across = 0, down = 0;

function clearRoom() {
  across = Math.ceil(width / GRAIN) + 1; down = Math.ceil(height / GRAIN) + 1;
  taken = new Uint8Array(across * down);
  const box = mapCanvas.getBoundingClientRect();
  for (const one of document.querySelectorAll(".controls, .tabs, .scale, #bins-note:not([hidden]), #place-card:not([hidden])")) {
    const over = one.getBoundingClientRect();
    take(over.left - box.left, over.top - box.top, over.right - box.left, over.bottom - box.top);
  }
}

function eachCell(left, top, right, bottom, visit) {
  const from = Math.max(0, Math.floor(left / GRAIN)), to = Math.min(across - 1, Math.floor(right / GRAIN));
  for (let y = Math.max(0, Math.floor(top / GRAIN)); y <= Math.min(down - 1, Math.floor(bottom / GRAIN)); y++) {
    for (let x = from; x <= to; x++) if (visit(y * across + x)) return true;
  }
  return false;
}

function take(left, top, right, bottom) {
  eachCell(left, top, right, bottom, (cell) => { taken[cell] = 1; return false; });
}

function isFree(left, top, right, bottom) {
  if (left < 2 || top < 2 || right > width - 2 || bottom > height - 2) return false;
  return !eachCell(left, top, right, bottom, (cell) => taken[cell] === 1);
}

// Write a name at the first of the spots that is free; x and y are its middle.
function writeAt(name, spots, wide, high = 14) {
  for (const [x, y] of spots) {
    const box = [x - wide / 2 - 2, y - high / 2, x + wide / 2 + 2, y + high / 2];
    if (!isFree(...box)) continue;
    take(...box);
    pen.strokeText(name, x, y); pen.fillText(name, x, y);
    return true;
  }
  return false;
}

function lettering(font, fill) {
  pen.font = `${font} ${FONT}`; pen.textAlign = "center"; pen.textBaseline = "middle";
  pen.lineWidth = 3; pen.lineJoin = "round"; pen.strokeStyle = ink.halo; pen.fillStyle = fill;
}

const MOST_NAMED = 150;
function paintNames(seen, reach) {
  if (seen.length > MOST_NAMED) return;
  lettering("12px", ink.ink);
  for (const i of seen) {
    if (matched !== null && !matched[i]) continue;
    const full = nameOf(i), name = full.length > 34 ? `${full.slice(0, 32)}…` : full;
    const x = toX(X[i]), y = toY(Y[i]), wide = pen.measureText(name).width, side = reach[i] + 5 + wide / 2, far = i === selected ? 30 : 20;
    writeAt(name, [[x + side, y], [x - side, y], [x, y + far], [x, y - far]], wide);
  }
}

let regionLabels = null;
function paintRegions() {
  if (!DATA.regions || DATA.regions.names.length > 80) return;
  if (!regionLabels) {
    regionLabels = DATA.regions.names.map((name) => ({ name, x: 0, y: 0, n: 0 }));
    for (let i = 0; i < COUNT; i++) {
      const label = regionLabels[DATA.regions.index[i]];
      label.x += X[i]; label.y += Y[i]; label.n++;
    }
    regionLabels.sort((a, b) => b.n - a.n);
  }
  lettering("600 12px", ink.soft);
  for (const { name, x, y, n } of regionLabels) {
    if (!n || !name) continue;
    const px = toX(x / n), py = toY(y / n), spots = [[px, py]];
    for (const far of [16, 32, 48, 64]) for (const [dx, dy] of [[0, -1], [0, 1], [1, 0], [-1, 0], [1, -1], [-1, -1], [1, 1], [-1, 1]]) {
      spots.push([px + dx * far, py + dy * far]);
    }
    writeAt(name, spots, pen.measureText(name).width, 16);
  }
}
