// Every place as a row. Only the rows in sight exist, so that 100,000 scroll as lightly as 100.
const ROW = 45, scroller = document.getElementById("scroller"), body = document.getElementById("rows");
const MOST_PIXELS = 8e6; // browsers stop drawing beyond some ten million pixels
const columns = [
  { key: "name", title: "Place", less: (a, b) => collator.compare(nameOf(a), nameOf(b)) },
  { key: "answer", title: "Answer", name: "answer", less: (a, b) => state[a] - state[b] || UPPER[a] - UPPER[b] },
  { key: "upper", title: "Certainly at most", number: true, less: (a, b) => UPPER[a] - UPPER[b] },
];
const collator = new Intl.Collator("en", { numeric: true });
if (LOWER) columns.push({ key: "lower", title: "Likely at least", number: true, optional: true, less: (a, b) => LOWER[a] - LOWER[b] });
if (DATA.regions) columns.splice(1, 0, { key: "region", title: "District", optional: true, less: (a, b) => collator.compare(regionOf(a), regionOf(b)) });
let listed = Int32Array.from({ length: COUNT }, (_, i) => i);
let sortKey = "name", descending = false, first = -1;

const classOf = (column) => [column.number && "number", column.optional && "column-optional", column.name].filter(Boolean).join(" ");

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
  document.getElementById("caption").textContent =
    `${number(listed.length)} places; the answers are those of the map.`;
  buildHead();
  first = -1; fillRows();
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
      const [short, rest] = words(i).split(/(?= known infected)/);
      cell.append(mark, short, element("span", rest, "column-optional")); cell.title = explain(i);
    } else if (column.key === "region") cell.textContent = regionOf(i);
    else if (column.key === "upper") cell.textContent = UPPER[i] === NONE ? "no bound" : number(UPPER[i]);
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
  const total = listed.length, pixels = Math.min(total * ROW, MOST_PIXELS), squeeze = pixels / Math.max(1, total * ROW);
  const sight = Math.ceil(scroller.clientHeight / ROW) + 16;
  const start = Math.max(0, Math.min(total - sight, Math.floor(scroller.scrollTop / ROW / squeeze) - 6));
  if (start === first) return;
  first = start;
  const end = Math.min(total, start + sight), rows = [];
  for (let n = start; n < end; n++) {
    const row = document.createElement("tr");
    row.setAttribute("aria-rowindex", `${n + 2}`);
    row.append(...cellsOf(listed[n]));
    rows.push(row);
  }
  const before = Math.round(start * ROW * squeeze);
  spacer("before", before);
  body.replaceChildren(...rows);
  spacer("after", Math.max(0, pixels - before - (end - start) * ROW));
}
