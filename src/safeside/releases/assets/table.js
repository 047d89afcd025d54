// Every place as a row. Only the rows in sight exist, so that 100,000 scroll as lightly as 100.
const ROW = 45, LINE = 20, scroller = document.getElementById("scroller"), body = document.getElementById("rows");
const MOST_PIXELS = 8e6; // browsers stop drawing beyond some ten million pixels
const columns = [
  { key: "name", title: say("place"), less: (a, b) => collator.compare(nameOf(a), nameOf(b)) },
  { key: "answer", title: say("answer"), name: "answer", short: SIZES !== null, less: (a, b) => state[a] - state[b] || UPPER[a] - UPPER[b] },
  { key: "upper", title: say("bound"), number: true, optional: SIZES !== null, less: (a, b) => UPPER[a] - UPPER[b] },
];
const collator = new Intl.Collator(LANGUAGE, { numeric: true });
if (LOWER) columns.push({ key: "lower", title: say("lower"), number: true, optional: true, less: (a, b) => LOWER[a] - LOWER[b] });
if (SIZES) columns.push(
  { key: "share", title: say("share"), number: true, less: (a, b) => shareOf(a) - shareOf(b) },
  { key: "size", title: say("size"), number: true, optional: true, less: (a, b) => SIZES[a] - SIZES[b] },
);
if (DATA.regions) columns.splice(1, 0, { key: "region", title: say("district"), optional: true, less: (a, b) => collator.compare(regionOf(a), regionOf(b)) });
let listed = Int32Array.from({ length: COUNT }, (_, i) => i);
let sortKey = "name", descending = false, first = -1;

const classOf = (column) => [column.number && "number", column.optional && "column-optional", column.name, column.short && "short"].filter(Boolean).join(" ");

function buildHead() {
  document.getElementById("head").replaceChildren(...columns.map((column) => {
    const cell = element("th", "", classOf(column));
    const button = element("button", column.title + (column.key === sortKey ? (descending ? " ↓" : " ↑") : ""));
    button.type = "button";
    cell.scope = "col";
    cell.setAttribute("aria-sort", column.key !== sortKey ? "none" : descending ? "descending" : "ascending");
    button.onclick = () => {
      descending = column.key === sortKey && !descending; sortKey = column.key;
      relist(); document.getElementById("head").children[columns.indexOf(column)].firstChild.focus();
    };
    cell.append(button);
    return cell;
  }));
}

function relist() {
  const column = columns.find((one) => one.key === sortKey), sign = descending ? -1 : 1;
  const kept = [];
  for (let i = 0; i < COUNT; i++) if (matched === null || matched[i]) kept.push(i);
  kept.sort((a, b) => sign * column.less(a, b) || a - b);
  listed = Int32Array.from(kept);
  document.getElementById("table").setAttribute("aria-rowcount", `${listed.length + 1}`);
  sayCaption();
  buildHead();
  measureRows();
  first = -1; fillRows();
}

function sayCaption() {
  const n = listed.length;
  byId("caption").textContent = WINDOWS.length > 1 ? say("caption_at", { n, when: WINDOWS[at].label }) : say("caption", { n });
}

// Names too long for a line make their row taller. Where all rows are alike no list of heights is kept.
let tops = null;
function measureRows() {
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = getComputedStyle(scroller).font;
  const cells = [...document.getElementById("head").children];
  const roomOf = (key) => { const n = columns.findIndex((one) => one.key === key); return n < 0 ? 0 : cells[n].clientWidth - 26; };
  const rooms = [[nameOf, roomOf("name")], [regionOf, roomOf("region")]].filter(([, room]) => room > 20);
  const lines = (i) => Math.max(1, ...rooms.map(([text, room]) => {
    const told = text(i);
    // Letters are about half as wide as they are tall: only what might be too long is measured.
    return told.length * 7 < room ? 1 : Math.ceil((ruler.measureText(told).width * 1.1) / room);
  }));
  let tall = false;
  const heights = Float64Array.from(listed, (i) => { const n = lines(i); tall = tall || n > 1; return n > 1 ? ROW + (n - 1) * LINE : ROW; });
  tops = null;
  if (!tall) return;
  tops = new Float64Array(listed.length + 1);
  heights.forEach((high, n) => { tops[n + 1] = tops[n] + high; });
}

const topOf = (n) => (tops ? tops[n] : n * ROW);
function rowAt(pixel) {
  if (!tops) return Math.floor(pixel / ROW);
  let low = 0, high = tops.length - 1;
  while (low < high) { const middle = (low + high + 1) >> 1; if (tops[middle] <= pixel) low = middle; else high = middle - 1; }
  return low;
}

function spacer(id, pixels) {
  const row = document.createElement("tr"), cell = document.createElement("td");
  row.style.height = `${pixels}px`; cell.style.padding = "0";
  row.append(cell);
  document.getElementById(id).replaceChildren(...(pixels > 0 ? [row] : []));
}

function cellsOf(i) {
  return columns.map((column) => {
    const cell = element(column.key === "name" ? "th" : "td", "",
      classOf(column));
    if (column.key === "name") {
      cell.scope = "row";
      const button = element("button", nameOf(i));
      button.type = "button"; button.title = DATA.ids[i];
      if (HAS_MAP) button.onclick = () => show(i); else button.disabled = true;
      cell.append(button);
    } else if (column.key === "answer") {
      const mark = element("span", "", "mark");
      mark.style.backgroundImage = markImage(state[i]);
      // Where there is little room the noun goes, which the page's heading has.
      const bound = (state[i] === AT_MOST || state[i] === HIGHER) && UPPER[i] !== NONE;
      // Groups have their sizes and shares in columns of their own.
      const whole = SIZES && bound ? say("answer.at-most-short", { n: UPPER[i] }) : words(i);
      const short = bound ? say("answer.at-most-short", { n: UPPER[i] }) : whole, cut = whole.startsWith(short) ? short.length : whole.length;
      cell.append(mark, whole.slice(0, cut), element("span", whole.slice(cut), "column-optional")); cell.title = explain(i);
    } else if (column.key === "region") cell.textContent = regionOf(i);
    else if (column.key === "upper") cell.textContent = UPPER[i] === NONE ? say("no_bound") : number(UPPER[i]);
    else if (column.key === "share") { cell.textContent = tenths(shareOf(i)); cell.title = restWords(i); }
    else if (column.key === "size") cell.textContent = number(SIZES[i]);
    else cell.textContent = number(LOWER[i]);
    return cell;
  });
}

const images = new Map();
function markImage(kind) {
  if (!images.has(kind)) images.set(kind, `url(${markCanvas(kind).toDataURL()})`);
  return images.get(kind);
}

function fillRows() {
  if (document.getElementById("table-view").hidden) return;
  const total = listed.length, pixels = Math.min(topOf(total), MOST_PIXELS), squeeze = pixels / Math.max(1, topOf(total));
  const sight = Math.ceil(scroller.clientHeight / ROW) + 16;
  const start = Math.max(0, Math.min(total - sight, rowAt(scroller.scrollTop / squeeze) - 6));
  if (start === first) return;
  first = start;
  const end = Math.min(total, start + sight), rows = [];
  for (let n = start; n < end; n++) {
    const row = document.createElement("tr");
    row.setAttribute("aria-rowindex", `${n + 2}`);
    row.style.height = `${topOf(n + 1) - topOf(n)}px`;
    row.append(...cellsOf(listed[n]));
    rows.push(row);
  }
  const before = Math.round(topOf(start) * squeeze);
  spacer("before", before);
  body.replaceChildren(...rows);
  spacer("after", Math.max(0, pixels - before - (topOf(end) - topOf(start))));
}
