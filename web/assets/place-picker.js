// A map in a dialog, for choosing its centre or window. Loaded on first use.
import { suggest } from './explore/suggest.js';
import { h } from './explore/view.js';

const SYDNEY = [-33.8731, 151.2069];

/**
 * @param {{ text: string, isWindow: boolean, findPlaces: (text: string) => Promise<object[]>, tiles?: string, attribution?: string }} options
 *   `text`: current value of the field
 * @returns {Promise<string | null>} `lat,lng`, or `south,west,north,east` for a window; null if nothing was chosen
 */
export async function chooseOnMap({ text, isWindow, findPlaces, tiles = '', attribution = '' }) {
  await Promise.all([loadStyle('/assets/leaflet/leaflet.css'), loadStyle('/assets/explore/map.css'), loadLeaflet()]);
  const { drawBase } = await import('./explore/base-map.js');
  const L = globalThis.L;
  const element = h('div', {
    class: 'map',
    tabindex: '0',
    role: 'application',
    'aria-label': 'Map. Arrow keys move it, plus and minus zoom.',
    'data-tiles': tiles,
    'data-attribution': attribution,
  });
  const search = h('input', { type: 'search', id: 'map-search', placeholder: 'Circular Quay' });
  const told = h('output', { class: 'small' });
  const dialog = h(
    'dialog',
    { class: 'map-dialog', 'aria-label': isWindow ? 'Choose a part of the map' : 'Choose a place' },
    h('div', { class: 'suggested' }, h('label', { for: 'map-search' }, 'Find a stop or a place'), search),
    h('div', { class: isWindow ? 'map-frame' : 'map-frame middle' }, element),
    h(
      'form',
      { method: 'dialog', class: 'actions' },
      h('button', { value: 'yes' }, isWindow ? 'Use this part of the map' : 'Use the middle of the map'),
      h('button', { value: '', class: 'plain' }, 'Cancel'),
      told,
    ),
  );
  document.body.append(dialog);
  dialog.showModal();

  const map = L.map(element, { minZoom: 5, maxZoom: 19, zoomAnimation: false, fadeAnimation: false });
  map.attributionControl.setPrefix(false);
  const numbers = text.split(',').map(Number);
  const isGiven = numbers.every(Number.isFinite) && text !== '';
  if (isWindow && isGiven && numbers.length === 4)
    map.fitBounds([
      [numbers[0], numbers[1]],
      [numbers[2], numbers[3]],
    ]);
  else map.setView(isGiven && numbers.length === 2 ? numbers : SYDNEY, 15);
  drawBase(map, element, () => []);

  function chosen() {
    const bounds = map.getBounds();
    const { lat, lng } = map.getCenter().wrap();
    const all = isWindow ? [bounds.getSouth(), bounds.getWest(), bounds.getNorth(), bounds.getEast()] : [lat, lng];
    return all.map((degrees) => degrees.toFixed(isWindow ? 4 : 5)).join(',');
  }
  const tell = () => {
    told.textContent = chosen();
  };
  map.on('moveend', tell).on('click', ({ latlng }) => map.panTo(latlng));
  tell();
  suggest(search, {
    find: findPlaces,
    onChoose({ name, position }) {
      search.value = name;
      map.setView([position.lat, position.lng], 16);
    },
  });
  return new Promise((done) => {
    dialog.addEventListener('close', () => {
      const found = dialog.returnValue === 'yes' ? chosen() : null;
      map.remove();
      dialog.remove();
      done(found);
    });
  });
}

const loaded = new Map();

function load(url, element) {
  if (!loaded.has(url)) {
    loaded.set(
      url,
      new Promise((done, fail) => {
        element.addEventListener('load', done);
        element.addEventListener('error', fail);
      }),
    );
    document.head.append(element);
  }
  return loaded.get(url);
}

const loadStyle = (url) => load(url, h('link', { rel: 'stylesheet', href: url }));
const loadLeaflet = () => load('/assets/leaflet/leaflet.js', h('script', { src: '/assets/leaflet/leaflet.js' }));
