// The panel: parts that unfold, and on a narrow screen a sheet over the map with three heights.
const HEIGHTS = ['low', 'half', 'high'];
const NEXT = { low: 'Show more', half: 'Show more', high: 'Show the map' };
/** The share of the map that a half-open sheet covers; equal to its height in explore.css. */
const HALF = 0.58;
/** A shorter movement is a press. */
const DRAG_PIXELS = 6;

const panel = document.getElementById('panel');
const handle = document.getElementById('sheet-handle');
const isSheet = matchMedia('(max-width: 52rem)');

function setHeight(height) {
  panel.dataset.height = height;
  panel.style.height = '';
  handle.firstElementChild.textContent = NEXT[height];
}

/** Where a drag of the handle began; null while nothing drags it. */
let drag = null;
let wasDragged = false;

handle.addEventListener('pointerdown', ({ clientY, pointerId }) => {
  handle.setPointerCapture(pointerId);
  drag = { clientY, height: panel.offsetHeight };
  wasDragged = false;
});
handle.addEventListener('pointermove', ({ clientY }) => {
  if (!drag || (!wasDragged && Math.abs(clientY - drag.clientY) < DRAG_PIXELS)) return;
  wasDragged = true;
  panel.style.height = `${drag.height + drag.clientY - clientY}px`;
});
for (const end of ['pointerup', 'pointercancel'])
  handle.addEventListener(end, () => {
    if (drag && wasDragged) setHeight(nearestHeight(panel.offsetHeight));
    drag = null;
  });
handle.addEventListener('click', () => {
  // The click that ends a drag is no press.
  if (!wasDragged) setHeight(HEIGHTS[(HEIGHTS.indexOf(panel.dataset.height) + 1) % HEIGHTS.length]);
  wasDragged = false;
});

function nearestHeight(pixels) {
  const offOf = (height) => {
    setHeight(height);
    return Math.abs(panel.offsetHeight - pixels);
  };
  const offs = new Map(HEIGHTS.map((height) => [height, offOf(height)]));
  return HEIGHTS.toSorted((one, other) => offs.get(one) - offs.get(other))[0];
}

for (const button of panel.querySelectorAll('[aria-controls][aria-expanded]'))
  button.addEventListener('click', () => unfold(button.getAttribute('aria-controls'), !isUnfolded(button)));

const isUnfolded = (button) => button.getAttribute('aria-expanded') === 'true';

/** Shows a part of the panel, or hides it. */
export function unfold(id, isShown = true) {
  document.getElementById(id).hidden = !isShown;
  panel.querySelector(`[aria-controls="${id}"]`).setAttribute('aria-expanded', String(isShown));
}

/** On a wide screen there is room for the journey. */
unfold('trip', !isSheet.matches);

/** Returns how many pixels of the map the sheet covers. A fully open sheet counts as half open. */
export function coveredHeight() {
  if (!isSheet.matches) return 0;
  return Math.min(panel.offsetHeight, panel.parentElement.offsetHeight * HALF);
}

/** Scrolls the panel (not the page) to the element and focuses it. */
export function bringIntoView(element) {
  element.focus({ preventScroll: true });
  panel.scrollTop = element.offsetTop - handle.offsetHeight - 12;
}
