// Groups as a table: what is certain of each at the number or share asked about, or at another one.
const FIRST_ROWS = 300;
let matched = null, kept = [], sortKey = "name", descending = false, everything = false;
let level = null; // the reader's number, or share in tenths of a per cent; null reads it as asked

const collator = new Intl.Collator(LANGUAGE, { numeric: true });
const isCertain = (i) => (level === null ? state[i] === AT_MOST : needed(i) <= level);
const said = (i) => (isCertain(i) ? "yes" : state[i] === NOT_ASKED ? "unasked" : "no");

// Where there is little room the bound is shown in what was asked about: people, or a share of them.
const columns = [
  { key: "name", title: "group", less: (a, b) => collator.compare(nameOf(a), nameOf(b)) },
  ...(DATA.regions ? [{ key: "region", title: "region", optional: true, less: (a, b) => collator.compare(regionOf(a), regionOf(b)) }] : []),
  { key: "answer", title: "answer", less: (a, b) => isCertain(b) - isCertain(a) || needed(a) - needed(b) },
  { key: "bound", title: "bound", optional: BY_SHARE, less: (a, b) => needed(a) - needed(b) || UPPER[a] - UPPER[b] },
  ...(SIZES ? [
    { key: "share", title: "share", numeric: true, optional: !BY_SHARE, less: (a, b) => shareOf(a) - shareOf(b) },
    { key: "rest", title: "rest", numeric: true, optional: true, less: (a, b) => shareOf(b) - shareOf(a) },
    { key: "size", title: "size", numeric: true, optional: true, less: (a, b) => SIZES[a] - SIZES[b] },
  ] : []),
];

function element(kind, text = "", name = "") {
  const made = document.createElement(kind);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}
const classOf = (column) => [column.numeric && "number", column.optional && "optional"].filter(Boolean).join(" ");

function boundText(i) {
  if (UPPER[i] === NONE || (SIZES && UPPER[i] >= SIZES[i] && !isCertain(i))) return say("groups.nothing");
  return SIZES ? say("groups.of", { n: UPPER[i], size: SIZES[i], date: DATA.date }) : number(UPPER[i]);
}

function cell(i, column) {
  if (column.key === "name") { const head = element("th", nameOf(i)); head.scope = "row"; head.title = DATA.ids[i]; return head; }
  const data = element("td", "", classOf(column));
  if (column.key === "region") data.textContent = regionOf(i);
  else if (column.key === "size") data.textContent = number(SIZES[i]);
  else if (column.key === "share") data.textContent = tenths(shareOf(i));
  else if (column.key === "rest") {
    data.textContent = tenths(1000 - shareOf(i));
    data.title = restWords(i);
  } else if (column.key === "bound") { data.textContent = boundText(i); data.classList.toggle("soft", !isCertain(i)); }
  else { data.textContent = say(`groups.${said(i)}`); data.className = `answer ${said(i)}`; }
  return data;
}

function fill() {
  const column = columns.find((one) => one.key === sortKey), sign = descending ? -1 : 1, wanted = byId("filter").value;
  kept = [];
  for (let i = 0; i < COUNT; i++) {
    if ((matched === null || matched[i]) && (wanted === "all" || (wanted === "certain") === isCertain(i))) kept.push(i);
  }
  kept.sort((a, b) => sign * column.less(a, b) || a - b);
  const shownRows = everything ? kept : kept.slice(0, FIRST_ROWS);
  byId("rows").replaceChildren(...shownRows.map((i) => { const row = element("tr"); row.append(...columns.map((one) => cell(i, one))); return row; }));
  byId("shown").textContent = say("groups.shown", { n: shownRows.length, all: COUNT });
  byId("more").hidden = shownRows.length === kept.length;
  byId("more").textContent = say("groups.more", { n: kept.length });
  head();
  tell();
}

function head() {
  byId("head").replaceChildren(...columns.map((column) => {
    const made = element("th", "", classOf(column)), mark = column.key === sortKey ? (descending ? " ↓" : " ↑") : "";
    const button = element("button", say(`groups.${column.title}`) + mark);
    button.type = "button"; made.scope = "col";
    made.setAttribute("aria-sort", column.key !== sortKey ? "none" : descending ? "descending" : "ascending");
    button.onclick = () => {
      descending = column.key === sortKey && !descending; sortKey = column.key;
      fill(); byId("head").children[columns.indexOf(column)].firstChild.focus();
    };
    made.append(button);
    return made;
  }));
}

const certainNow = () => { let n = 0; for (let i = 0; i < COUNT; i++) n += isCertain(i); return n; };
function tell() {
  const n = certainNow();
  // Down: a share of groups that is not whole never looks whole, nor larger than it is.
  byId("certain").textContent = say("groups.certain_of", { n, all: COUNT, share: tenths(Math.floor((1000 * n) / COUNT)) });
  if (!DATA.slider) return;
  const value = Number(byId("slider").value);
  byId("slider-label").textContent = BY_SHARE ? say("groups.at_share", { share: tenths(value) }) : say("groups.at_number", { n: value });
  byId("reset").hidden = level === null;
  curve();
}

// How many groups are certain at each number or share: one step for each group.
function curve() {
  const canvas = byId("curve"), ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (!w) return;
  canvas.width = w * ratio; canvas.height = h * ratio;
  const pen = canvas.getContext("2d"), most = Number(byId("slider").max), value = Number(byId("slider").value);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const steps = Float64Array.from({ length: COUNT }, (_, i) => needed(i)).sort();
  const x = (t) => 8 + ((w - 16) * t) / most, y = (part) => h - 14 - (h - 22) * part;
  pen.scale(ratio, ratio);
  pen.strokeStyle = colour("line"); pen.lineWidth = 1;
  for (const part of [0, 0.5, 1]) { pen.beginPath(); pen.moveTo(8, y(part)); pen.lineTo(w - 8, y(part)); pen.stroke(); }
  pen.strokeStyle = colour("at-most"); pen.lineWidth = 2; pen.beginPath(); pen.moveTo(x(0), y(0));
  for (let t = 0, n = 0; t <= most; t++) {
    while (n < COUNT && steps[n] <= t) n++;
    pen.lineTo(x(t), y(n / COUNT));
  }
  pen.stroke();
  pen.strokeStyle = colour("ink"); pen.lineWidth = 1; pen.beginPath(); pen.moveTo(x(value), 4); pen.lineTo(x(value), h - 14); pen.stroke();
  pen.fillStyle = colour("soft"); pen.font = "11px system-ui, sans-serif"; pen.textAlign = "center";
  for (let k = 0; k <= 4; k++) { const t = Math.round((most * k) / 4); pen.fillText(BY_SHARE ? tenths(t) : number(t), Math.min(w - 22, Math.max(22, x(t))), h - 1); }
}

function buildSlider() {
  byId("slider-box").hidden = !DATA.slider;
  if (!DATA.slider) return;
  const slider = byId("slider"), asked = BY_SHARE ? DATA.tenths : THRESHOLDS ? Math.max(...THRESHOLDS) : DATA.at_most;
  byId("curve-title").textContent = say(BY_SHARE ? "groups.curve_share" : "groups.curve");
  slider.max = BY_SHARE ? Math.min(1000, Math.max(200, 4 * asked)) : DATA.slider_most;
  slider.value = asked;
  slider.addEventListener("input", () => { level = Number(slider.value); fill(); });
  byId("reset").onclick = () => { level = null; slider.value = asked; fill(); slider.focus(); };
  new ResizeObserver(curve).observe(byId("curve"));
}

function buildMeasures() {
  const box = byId("measure");
  if (!box) return;
  box.replaceChildren(...MEASURES.map((name, n) => { const option = element("option", name); option.value = n; return option; }));
  box.onchange = () => { measure = Number(box.value); look(at, null); fill(); };
}

const hay = DATA.ids.map((id, i) => `${id}\n${nameOf(i)}\n${regionOf(i)}`.toLowerCase());
function start() {
  look(0, null);
  buildSlider(); buildMeasures();
  byId("search").addEventListener("input", (event) => {
    const needle = event.target.value.trim().toLowerCase();
    matched = needle ? hay.map((text) => text.includes(needle)) : null;
    fill();
  });
  byId("filter").onchange = fill;
  byId("more").onclick = () => { everything = true; fill(); };
  fill();
  document.body.dataset.ready = "yes";
}
start();
