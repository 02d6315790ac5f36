// On a narrow screen, the panel is a sheet over the map with three heights.
const HEIGHTS = ['low', 'half', 'high'];
const NEXT = { low: 'Show more', half: 'Show more', high: 'Show the map' };

const panel = document.getElementById('panel');
const handle = document.getElementById('sheet-handle');
const isSheet = matchMedia('(max-width: 52rem)');

handle.addEventListener('click', () => {
  const next = HEIGHTS[(HEIGHTS.indexOf(panel.dataset.height) + 1) % HEIGHTS.length];
  panel.dataset.height = next;
  handle.textContent = NEXT[next];
});

/** Returns how many pixels of the map the sheet covers. A fully open sheet counts as half open. */
export function coveredHeight() {
  if (!isSheet.matches) return 0;
  return Math.min(panel.offsetHeight, panel.parentElement.offsetHeight * 0.52);
}

/** Scrolls the panel (not the page) to the element and focuses it. */
export function bringIntoView(element) {
  element.focus({ preventScroll: true });
  panel.scrollTop = element.offsetTop - handle.offsetHeight - 12;
}
