// The card of the place that was picked: what is said of it now, and its whole day as a row of hours.
const card = document.getElementById("place-card");
const CELL = 11, CELL_HIGH = 16;

function element(tag, text, name) {
  const node = document.createElement(tag);
  if (text) node.textContent = text;
  if (name) node.className = name;
  return node;
}

function pick(i) {
  selected = i;
  card.hidden = i < 0;
  if (i >= 0) {
    const close = element("button", "×", "close"), answer = element("p", "", "answer");
    close.type = "button"; close.setAttribute("aria-label", say("close"));
    close.onclick = () => { pick(-1); mapCanvas.focus(); };
    answer.append(markCanvas(state[i], boundMark(i)), element("span", words(i)));
    const where = [DATA.names && DATA.names[i] ? DATA.ids[i] : "", regionOf(i)].filter(Boolean).join(", ");
    const parts = [element("h3", nameOf(i)), element("p", where, "hint")];
    if (WINDOWS.length > 1) parts.push(element("p", WINDOWS[at].label, "hint when"));
    const rest = SIZES && UPPER[i] !== NONE && UPPER[i] < SIZES[i] ? [element("p", restWords(i), "rest")] : [];
    card.replaceChildren(...parts, answer, ...rest, element("p", explain(i), "why"), ...dayOf(i), close);
    moveCard();
  }
  paint();
}

// Every window as a cell, one row for each day; a click looks at that window.
function dayOf(i) {
  if (WINDOWS.length < 2) return [];
  const rows = rowsOfDays(), sheet = document.createElement("canvas"), scale = window.devicePixelRatio || 1;
  const high = rows.length * (CELL_HIGH + 3) + 14, wide = Math.max(...rows.map((row) => row.length)) * CELL + 2;
  sheet.className = "day"; sheet.width = wide * scale; sheet.height = high * scale;
  sheet.style.width = `${wide}px`; sheet.style.height = `${high}px`;
  const brush = sheet.getContext("2d"), told = sayDay(i);
  brush.scale(scale, scale);
  rows.forEach((row, down) => row.forEach((w, along) => drawHour(brush, kindIn(w, i), along * CELL + 1, down * (CELL_HIGH + 3) + 1, w === at)));
  brush.fillStyle = ink.soft; brush.font = `10px ${FONT}`; brush.textBaseline = "alphabetic";
  rows[0].forEach((w, along) => { if (along % 6 === 0) brush.fillText(WINDOWS[w].short, along * CELL + 1, high - 2); });
  sheet.setAttribute("role", "img"); sheet.setAttribute("aria-label", told);
  sheet.onclick = (event) => {
    const row = rows[Math.floor(event.offsetY / (CELL_HIGH + 3))], w = row && row[Math.floor(event.offsetX / CELL)];
    if (w !== undefined) goTo(w);
  };
  return [element("p", told, "hint day-text"), sheet];
}

// "Of 24 hours: at most 5 in 20, cannot say in 4."
function sayDay(i) {
  const counts = new Array(KINDS).fill(0);
  WINDOWS.forEach((_, w) => { counts[kindIn(w, i)]++; });
  const parts = [AT_MOST, HIGHER, AT_LEAST, UNCLEAR, NOT_ASKED].filter((kind) => counts[kind])
    .map((kind) => say("in_windows", { words: lower(shortWords(kind)), n: counts[kind] }));
  return say("of_windows", { parts: parts.join(", "), all: WINDOWS.length, units: DATA.units[1] });
}

function drawHour(brush, kind, x, y, current) {
  const wide = CELL - 2;
  brush.fillStyle = kind === AT_MOST ? ink["at-most"] : kind === HIGHER ? ink.higher : kind === AT_LEAST ? ink["at-least"] : ink["unclear-fill"];
  brush.strokeStyle = kind === UNCLEAR || kind === NOT_ASKED ? ink.unclear : kind === AT_LEAST ? ink["at-least"] : ink["at-most"];
  brush.lineWidth = 1;
  brush.fillRect(x, y, wide, CELL_HIGH); brush.strokeRect(x + 0.5, y + 0.5, wide - 1, CELL_HIGH - 1);
  if (kind === NOT_ASKED) { brush.fillStyle = ink["not-asked"]; brush.fillRect(x + 2, y + CELL_HIGH / 2 - 1, wide - 4, 2); }
  if (current) { brush.strokeStyle = ink.ink; brush.lineWidth = 2; brush.strokeRect(x - 0.5, y - 0.5, wide + 1, CELL_HIGH + 1); }
}

function rowsOfDays() {
  const days = [...new Set(WINDOWS.map((window) => window.day))];
  const rows = days.map((day) => WINDOWS.map((_, w) => w).filter((w) => WINDOWS[w].day === day));
  return rows.every((row) => row.length === 1) ? [rows.flat()] : rows;
}

function moveCard() {
  if (selected < 0) return;
  const w = card.offsetWidth, h = card.offsetHeight, x = toX(X[selected]);
  if (width < 560) {
    // On a phone the card lies at the bottom, and the place is moved out from under it.
    const free = height - h - 30, y = toY(Y[selected]);
    if (y > free) { view.y += (y - Math.max(24, free / 2)) / view.k; paint(); }
    card.style.left = `${(width - w) / 2}px`; card.style.top = `${Math.max(4, height - h - 8)}px`;
    return;
  }
  const y = toY(Y[selected]), below = y + 28 + h < height - 8;
  card.style.left = `${Math.max(14, Math.min(width - w - 14, x - w / 2))}px`;
  card.style.top = `${Math.max(8, Math.min(height - h - 8, below ? y + 28 : y - h - 28))}px`;
}

function show(i) {
  openTab("map");
  view.x = X[i]; view.y = Y[i]; view.k = Math.max(view.k, 0.12);
  pick(i);
  mapCanvas.focus();
}
