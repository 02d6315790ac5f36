// On a narrow screen what is beside the map is a sheet over it, in one of three heights.
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

/** How much of the map the sheet covers, in pixels. Of a sheet over nearly all of it, as much as when it is half open. */
export function coveredHeight() {
  if (!isSheet.matches) return 0;
  return Math.min(panel.offsetHeight, panel.parentElement.offsetHeight * 0.52);
}

/** Scrolls the panel, and not the page, to the element and puts the focus there. */
export function bringIntoView(element) {
  element.focus({ preventScroll: true });
  panel.scrollTop = element.offsetTop - handle.offsetHeight - 12;
}
