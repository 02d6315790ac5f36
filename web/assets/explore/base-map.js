// The base map: tiles if a tile server is configured. Otherwise land and water from this server and, in the sandbox, its lines
// and stops.
import { findRoomAmongNames } from './clusters.js';
import { createLabel, nameOnMap } from './marker.js';

const L = globalThis.L;
/** From this zoom on, sandbox stops are labelled; below it, towns and suburbs are. */
const STOPS_FROM_ZOOM = 12;
const PLACES_FROM_ZOOM = 8;
/** Widths of the strips of water and land that correct the coarse shore at wharves and other stops. */
const CHANNEL_METRES = 120;
const CAUSEWAY_METRES = 60;
/** A stop within this many pixels of a labelled marker is not labelled again. */
const SAME_PLACE = 26;

/**
 * @param {HTMLElement} element
 * @param {() => { x: number, y: number, name: string }[]} readMarkers returns what is drawn above the base; the map fires
 *   "markersdrawn" when that has changed
 */
export async function drawBase(map, element, readMarkers) {
  const { tiles, attribution } = element.dataset;
  if (tiles) {
    L.tileLayer(tiles, { attribution, maxZoom: 19 }).addTo(map);
    return;
  }
  const [base, network] = await Promise.all([read('/assets/base-map.json'), read('/explore/network.json')]);
  for (const name of ['base', 'network', 'stops']) map.createPane(name).classList.add(`${name}-pane`);
  if (base) drawLand(map, base);
  if (network) drawLines(map, network.lines);
  const stops = network?.stops ?? [];
  const places = (base?.places ?? []).map(([name, lat, lng]) => ({ name, lat, lng }));
  drawLabels(map, { stops, places }, readMarkers);
}

async function read(url) {
  const response = await fetch(url).catch(() => null);
  return response?.ok ? response.json() : null;
}

function drawLand(map, { land, channels, causeways }) {
  const options = { pane: 'base', interactive: false };
  L.polygon(land, { ...options, className: 'land', weight: 1, fillOpacity: 1 }).addTo(map);
  const strips = [
    [L.polyline(channels, { ...options, className: 'channel' }).addTo(map), CHANNEL_METRES],
    [L.polyline(causeways, { ...options, className: 'causeway' }).addTo(map), CAUSEWAY_METRES],
  ];
  const rescale = () => {
    const { lat } = map.getCenter();
    const metresPerPixel = map.distance([lat, 0], [lat, 1]) / map.project([lat, 1]).subtract(map.project([lat, 0])).x;
    for (const [strip, metres] of strips) strip.setStyle({ weight: metres / metresPerPixel });
  };
  map.on('zoomend', rescale);
  rescale();
  map.attributionControl.addAttribution('Land: GSHHG');
}

function drawLines(map, lines) {
  for (const { path, mode, route } of lines) {
    const weight = mode === 'ferry' ? 1.5 : 3;
    const options = { pane: 'network', className: `network-line ${mode}`, weight, interactive: false };
    L.polyline(path, options).addTo(map).getElement().dataset.line = route;
  }
}

/** Labels stops if there are any and the map is close enough, else places. */
function drawLabels(map, { stops, places }, readMarkers) {
  const labels = L.layerGroup().addTo(map);
  const draw = () => {
    labels.clearLayers();
    if (map.getZoom() < PLACES_FROM_ZOOM) return;
    const bounds = map.getBounds();
    const above = readMarkers();
    const hasStops = stops.length > 0 && map.getZoom() >= STOPS_FROM_ZOOM;
    const near = (hasStops ? stops : places)
      .filter((stop) => bounds.contains([stop.lat, stop.lng]))
      .map((stop) => ({ ...stop, ...map.latLngToContainerPoint([stop.lat, stop.lng]) }))
      .filter(({ x, y }) => !above.some((other) => other.name && Math.hypot(other.x - x, other.y - y) < SAME_PLACE))
      // A stable sort: the places are in order of priority already.
      .sort((one, other) => isStation(other) - isStation(one));
    const named = findRoomAmongNames(near, above);
    const used = new Set(above.map(({ name }) => nameOnMap(name)));
    for (const [index, place] of near.entries()) {
      const name = nameOnMap(place.name);
      const isNamed = named.has(index) && !used.has(name);
      if (hasStops || isNamed) labels.addLayer(dotAt(place));
      if (!isNamed) continue;
      used.add(name);
      // Vehicles may cover the names of smaller stops.
      labels.addLayer(createLabel(place, name, 'base-label', hasStops && !isStation(place) ? 'stops' : 'labels'));
    }
  };
  map.on('moveend markersdrawn', draw);
  draw();
}

const isStation = ({ name }) => / Station$/.test(name);

function dotAt({ lat, lng }) {
  const dot = document.createElement('span');
  dot.className = 'base-stop';
  const icon = L.divIcon({ className: '', html: dot, iconSize: [0, 0] });
  return L.marker([lat, lng], { pane: 'stops', interactive: false, keyboard: false, icon });
}
