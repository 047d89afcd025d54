// Pointer, wheel and keyboard on the map, and the card of the place that was picked.
const pointers = new Map();
let moved = 0, pinch = 0;

function nearest(px, py, reach = 16) {
  let best = -1, least = reach * reach;
  for (let i = 0; i < COUNT; i++) {
    if (matched !== null && !matched[i]) continue;
    const dx = toX(X[i]) - px, dy = toY(Y[i]) - py, d = dx * dx + dy * dy;
    if (d < least) { least = d; best = i; }
  }
  return best;
}

function at(event) {
  const box = mapCanvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function spread() {
  const [a, b] = [...pointers.values()];
  return { d: Math.hypot(a[0] - b[0], a[1] - b[1]), x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2 };
}

function listenToMap() {
  mapCanvas.addEventListener("pointerdown", (event) => {
    mapCanvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at(event));
    moved = pointers.size > 1 ? 99 : 0;
    if (pointers.size === 2) pinch = spread().d;
    mapCanvas.classList.add("dragging");
  });
  mapCanvas.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    const old = pointers.get(event.pointerId), now = at(event);
    pointers.set(event.pointerId, now);
    const share = pointers.size;
    view.x -= (now[0] - old[0]) / view.k / share; view.y -= (now[1] - old[1]) / view.k / share;
    moved += Math.abs(now[0] - old[0]) + Math.abs(now[1] - old[1]);
    if (share === 2) { const s = spread(); zoom(s.d / (pinch || s.d), s.x, s.y); pinch = s.d; } else paint();
    moveCard();
  });
  const lift = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    mapCanvas.classList.toggle("dragging", pointers.size > 0);
    if (event.type === "pointerup" && moved < 6) pick(nearest(...at(event)));
  };
  mapCanvas.addEventListener("pointerup", lift);
  mapCanvas.addEventListener("pointercancel", lift);
  mapCanvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-Math.max(-240, Math.min(240, event.deltaY)) * 0.0022), ...at(event));
    moveCard();
  }, { passive: false });
  mapCanvas.addEventListener("dblclick", (event) => { zoom(2, ...at(event)); moveCard(); });
  mapCanvas.addEventListener("keydown", (event) => {
    const step = 80 / view.k;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (event.key in moves) { view.x += moves[event.key][0]; view.y += moves[event.key][1]; paint(); }
    else if (event.key === "+" || event.key === "=") zoom(1.5);
    else if (event.key === "-") zoom(1 / 1.5);
    else if (event.key === "0") fit(whole);
    else if (event.key === "Enter") pick(nearest(width / 2, height / 2, 400));
    else if (event.key === "Escape") pick(-1);
    else return;
    event.preventDefault();
    moveCard();
  });
  document.getElementById("zoom-in").onclick = () => { zoom(1.7); moveCard(); };
  document.getElementById("zoom-out").onclick = () => { zoom(1 / 1.7); moveCard(); };
  document.getElementById("zoom-all").onclick = () => { fit(whole); moveCard(); };
}

const card = document.getElementById("place-card");

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
    close.type = "button"; close.setAttribute("aria-label", "Close");
    close.onclick = () => { pick(-1); mapCanvas.focus(); };
    answer.append(markCanvas(state[i]), element("span", words(i)));
    const where = [DATA.names && DATA.names[i] ? DATA.ids[i] : "", regionOf(i)].filter(Boolean).join(", ");
    card.replaceChildren(element("h3", nameOf(i)), element("p", where, "hint"), answer, element("p", explain(i)), close);
    moveCard();
  }
  paint();
}

function moveCard() {
  if (selected < 0) return;
  const x = toX(X[selected]), y = toY(Y[selected]), w = card.offsetWidth, h = card.offsetHeight;
  const below = y + 24 + h < height - 8;
  card.style.left = `${Math.max(14, Math.min(width - w - 14, x - w / 2))}px`;
  card.style.top = `${Math.max(8, Math.min(height - h - 8, below ? y + 24 : y - h - 24))}px`;
}

function show(i) {
  openTab("map");
  view.x = X[i]; view.y = Y[i]; view.k = Math.max(view.k, 0.12);
  pick(i);
  mapCanvas.focus();
}
