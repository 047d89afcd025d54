// Pointer, wheel and keyboard on the map.
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

function pointOf(event) {
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
    pointers.set(event.pointerId, pointOf(event));
    moved = pointers.size > 1 ? 99 : 0;
    if (pointers.size === 2) pinch = spread().d;
    mapCanvas.classList.add("dragging");
  });
  mapCanvas.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    const old = pointers.get(event.pointerId), now = pointOf(event);
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
    if (event.type === "pointerup" && moved < 6) pick(nearest(...pointOf(event)));
  };
  mapCanvas.addEventListener("pointerup", lift);
  mapCanvas.addEventListener("pointercancel", lift);
  mapCanvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-Math.max(-240, Math.min(240, event.deltaY)) * 0.0022), ...pointOf(event));
    moveCard();
  }, { passive: false });
  mapCanvas.addEventListener("dblclick", (event) => { zoom(2, ...pointOf(event)); moveCard(); });
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
