// An optional backdrop the publisher gave: ground, parks, water, roads by kind, borders, and their names.
const AREAS = [["land", "land"], ["built", "built"], ["green", "green"], ["water", "water"]]; // kind, colour; from below
// kind, colour, pixels wide, metres wide, and the least pixels per metre at which it is drawn
const LINES = [["border", "line", 1, 0, 0], ["path", "road-edge", 1, 1.5, 0.06], ["minor", "road", 1, 5, 0.03],
  ["water", "water", 1.5, 8, 0], ["rail", "rail", 1.2, 3, 0], ["main", "road", 1.6, 11, 0], ["motorway", "road", 2.6, 18, 0]];
let layers = null;

// Points are steps from the one before.
function trace(path, steps, close) {
  let lon = 0, lat = 0;
  for (let n = 0; n < steps.length; n += 2) {
    lon += steps[n]; lat += steps[n + 1];
    const [x, y] = project(lat * UNIT, lon * UNIT);
    if (n) path.lineTo(x, y); else path.moveTo(x, y);
  }
  if (close) path.closePath();
}

function buildBasemap() {
  const { areas, lines, names } = DATA.basemap;
  const paths = (listed, close) => Object.fromEntries(Object.entries(listed).map(([kind, parts]) => {
    const path = new Path2D();
    for (const steps of parts) trace(path, steps, close);
    return [kind, path];
  }));
  layers = { areas: paths(areas, true), lines: paths(lines, false) };
  layers.names = names.map(([name, kind, lon, lat, angle]) => {
    const [x, y] = project(lat * UNIT, lon * UNIT);
    return { name, kind, x, y, angle: (-angle * Math.PI) / 180 };
  });
}

function paintBasemap() {
  if (!layers) buildBasemap();
  const k = view.k * ratio;
  pen.save();
  pen.setTransform(k, 0, 0, k, (width / 2 - view.x * view.k) * ratio, (height / 2 - view.y * view.k) * ratio);
  pen.lineJoin = pen.lineCap = "round";
  for (const [kind, tone] of AREAS) if (layers.areas[kind]) { pen.fillStyle = ink[tone]; pen.fill(layers.areas[kind]); }
  for (const [kind, tone, pixels, metres, from] of LINES) {
    if (!layers.lines[kind] || view.k < from) continue;
    const wide = Math.max(pixels / view.k, metres);
    // Large roads have an edge, so that they are seen on any ground; rails and borders are dashed.
    if (kind === "motorway" || kind === "main") {
      pen.strokeStyle = ink["road-edge"]; pen.lineWidth = wide + 1.4 / view.k; pen.stroke(layers.lines[kind]);
    }
    pen.setLineDash(kind === "rail" ? [5 / view.k, 3 / view.k] : kind === "border" ? [2 / view.k, 4 / view.k] : []);
    pen.strokeStyle = ink[tone]; pen.lineWidth = wide; pen.stroke(layers.lines[kind]);
  }
  pen.restore();
}

const MOST_NAMES = 40;
function paintBasemapNames() {
  let written = 0;
  // Names of streets wait until there is room for them, longer than the streets do.
  const waits = new Set(LINES.filter(([, , , , from]) => view.k < 2 * from).map(([kind]) => kind));
  for (const { name, kind, x, y, angle } of layers.names) {
    if (written >= MOST_NAMES) return;
    if (waits.has(kind)) continue;
    const px = toX(x), py = toY(y);
    if (px < 0 || py < 0 || px > width || py > height) continue;
    lettering(kind === "water" ? "italic 11px" : "11px", ink[kind === "water" ? "water-label" : kind === "green" ? "green-label" : "label"]);
    const long = pen.measureText(name).width, c = Math.abs(Math.cos(angle)), s = Math.abs(Math.sin(angle));
    const wide = long * c + 12 * s, high = long * s + 12 * c, box = [px - wide / 2, py - high / 2, px + wide / 2, py + high / 2];
    if (!isFree(...box)) continue;
    take(...box); written++;
    pen.save(); pen.translate(px, py); pen.rotate(angle);
    pen.strokeText(name, 0, 0); pen.fillText(name, 0, 0);
    pen.restore();
  }
}
