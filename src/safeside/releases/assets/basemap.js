// An optional backdrop the publisher gave (GeoJSON): ground, water, green, roads.
let layers = null;

function layerOf(tags) {
  const kind = tags.kind || "";
  if (kind === "water" || tags.natural === "water" || tags.waterway) return "water";
  if (kind === "green" || kind === "park" || tags.leisure === "park" || tags.landuse === "forest") return "green";
  if (kind === "road" || tags.highway || tags.railway) return "road";
  return "land";
}

function buildBasemap() {
  layers = { land: new Path2D(), green: new Path2D(), water: new Path2D(), road: new Path2D(), river: new Path2D() };
  const trace = (path, line, close) => {
    line.forEach(([lon, lat], n) => {
      const [x, y] = project(lat, lon);
      if (n) path.lineTo(x, y); else path.moveTo(x, y);
    });
    if (close) path.closePath();
  };
  const add = (shape, tags) => {
    if (!shape) return;
    const layer = layerOf(tags), open = layer === "water" ? layers.river : layers.road;
    if (shape.type === "Polygon") shape.coordinates.forEach((ring) => trace(layers[layer], ring, true));
    else if (shape.type === "MultiPolygon") shape.coordinates.flat().forEach((ring) => trace(layers[layer], ring, true));
    else if (shape.type === "LineString") trace(open, shape.coordinates, false);
    else if (shape.type === "MultiLineString") shape.coordinates.forEach((line) => trace(open, line, false));
    else if (shape.type === "GeometryCollection") shape.geometries.forEach((part) => add(part, tags));
  };
  const features = DATA.basemap.features || [DATA.basemap];
  features.forEach((feature) => add(feature.geometry || feature, feature.properties || {}));
}

function paintBasemap() {
  if (!layers) buildBasemap();
  const k = view.k * ratio;
  pen.save();
  pen.setTransform(k, 0, 0, k, (width / 2 - view.x * view.k) * ratio, (height / 2 - view.y * view.k) * ratio);
  pen.lineJoin = pen.lineCap = "round";
  pen.fillStyle = ink.land; pen.fill(layers.land, "evenodd");
  pen.strokeStyle = ink.line; pen.lineWidth = 1 / view.k; pen.stroke(layers.land);
  pen.fillStyle = ink.green; pen.fill(layers.green, "evenodd");
  pen.fillStyle = ink.water; pen.fill(layers.water, "evenodd");
  pen.strokeStyle = ink.water; pen.lineWidth = Math.max(3 / view.k, 12); pen.stroke(layers.river);
  pen.strokeStyle = ink.road; pen.lineWidth = Math.max(1 / view.k, 5); pen.stroke(layers.road);
  pen.restore();
}
