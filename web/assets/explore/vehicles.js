// The vehicles on the map. Each glides to its reported position and shows the age of its report. Vehicles close together are one
// marker until the map is zoomed in.
import { ageText } from '../age.js';
import { groupByCell } from './clusters.js';
import { createMarker, iconOf, LETTERS, textNode } from './marker.js';
import { MODE_NAMES } from './mode-names.js';
import { stripText, wordsOf } from './view.js';

const L = globalThis.L;
const FRAME_MS = 100;
/** Equal to the interval between responses. */
const GLIDE_MS = 15_000;
/** In degrees. A vehicle that moved farther jumps. */
const TOO_FAR = 0.02;
/** The service omits older reports. Without new responses, the page does the same. */
const MAX_AGE_SECONDS = 300;
const PALE_AFTER_SECONDS = 90;
/** From this zoom on, vehicles are not clustered. */
const NO_CLUSTERS_FROM_ZOOM = 16;
/** In pixels; a badge is about as wide. */
const CELL = 44;

/** `isCalm`: vehicles jump instead of gliding. */
export function createVehicleLayer(map, isCalm, onFollow) {
  const layer = L.layerGroup().addTo(map);
  const clusters = L.layerGroup().addTo(map);
  const drawn = new Map();
  /** The routes that are shown, as "mode route"; null: all. */
  let focus = null;
  let latest = { vehicles: [], ageOf: () => 0 };

  function set(vehicles, ageOf) {
    latest = { vehicles, ageOf };
    const gone = new Set(drawn.keys());
    for (const vehicle of vehicles.filter(({ mode, route }) => focus === null || focus.has(`${mode} ${route}`))) {
      gone.delete(vehicle.vehicle_id);
      const entry = drawn.get(vehicle.vehicle_id) ?? draw(vehicle);
      if (entry.vehicle.reported_at !== vehicle.reported_at) {
        glide(entry, vehicle);
        entry.marker.setIcon(iconOf(badgeOf(vehicle)));
      }
      Object.assign(entry, { vehicle, ageOf });
    }
    for (const id of gone) remove(id);
    moveAll();
    cluster();
  }

  /** Replaces vehicles that are close on the screen with their number. */
  function cluster() {
    clusters.clearLayers();
    const points = [...drawn.values()].map((entry) => ({
      ...map.latLngToContainerPoint(entry.marker.getLatLng()),
      item: entry,
    }));
    const isNear = map.getZoom() >= NO_CLUSTERS_FROM_ZOOM;
    const groups = isNear ? points.map(({ item }) => ({ items: [item] })) : groupByCell(points, CELL);
    for (const { items } of groups) {
      const isOne = items.length === 1;
      for (const { marker } of items) {
        if (isOne) layer.addLayer(marker);
        else layer.removeLayer(marker);
      }
      if (!isOne) clusters.addLayer(clusterOf(items));
    }
  }

  function clusterOf(entries) {
    const bounds = L.latLngBounds(entries.map(({ marker }) => marker.getLatLng()));
    const modes = new Set(entries.map(({ vehicle }) => vehicle.mode));
    const badge = textNode(`${entries.length}×`, `vehicle-cluster ${modes.size === 1 ? [...modes][0] : ''}`);
    const routes = [...new Set(entries.map(({ vehicle }) => vehicle.route ?? MODE_NAMES[vehicle.mode]))];
    return createMarker(bounds.getCenter(), badge)
      .bindTooltip(textNode(`${entries.length} vehicles: ${routes.join(', ')}`))
      .on('click', (event) => {
        L.DomEvent.stopPropagation(event);
        map.setView(bounds.getCenter(), Math.min(NO_CLUSTERS_FROM_ZOOM, map.getZoom() + 2), { animate: false });
      });
  }

  map.on('zoomend', cluster);

  function draw(vehicle) {
    const marker = createMarker(vehicle, badgeOf(vehicle));
    const entry = { vehicle, marker, from: vehicle, to: vehicle, startedAt: 0 };
    drawn.set(vehicle.vehicle_id, entry);
    marker.bindTooltip(() => textNode(describe(entry)));
    const follow = (event) => {
      // A click on a vehicle must not search for stops around it.
      L.DomEvent.stopPropagation(event);
      if (entry.vehicle.run_id) onFollow(entry.vehicle.run_id);
    };
    marker.on('click', follow);
    return entry;
  }

  function glide(entry, to) {
    const { lat, lng } = entry.marker.getLatLng();
    const isFar = Math.max(Math.abs(to.lat - lat), Math.abs(to.lng - lng)) > TOO_FAR;
    Object.assign(entry, { from: isFar || isCalm ? to : { lat, lng }, to, startedAt: performance.now() });
  }

  function moveAll() {
    for (const [id, { vehicle, marker, from, to, startedAt, ageOf }] of drawn) {
      const age = ageOf(vehicle);
      if (age > MAX_AGE_SECONDS) {
        remove(id);
        continue;
      }
      const share = Math.min(1, (performance.now() - startedAt) / GLIDE_MS);
      const between = (name) => from[name] + share * (to[name] - from[name]);
      if (layer.hasLayer(marker) && !marker.getLatLng().equals([to.lat, to.lng]))
        marker.setLatLng([between('lat'), between('lng')]);
      marker.getElement()?.classList.toggle('pale', age > PALE_AFTER_SECONDS);
    }
  }

  function remove(id) {
    layer.removeLayer(drawn.get(id).marker);
    drawn.delete(id);
  }

  setInterval(() => document.hidden || moveAll(), FRAME_MS);

  return {
    /** `ageOf(vehicle)` is how many seconds ago it reported. */
    set,
    /** Shows only the vehicles of these rides; null: all. */
    show(rides) {
      focus = rides && new Set(rides.map(({ mode, route }) => `${mode} ${route}`));
      set(latest.vehicles, latest.ageOf);
    },
    /** Returns a text with the number of vehicles and the ages of their reports. */
    describe() {
      const ages = [...drawn.values()].map(({ vehicle, ageOf }) => ageOf(vehicle));
      if (ages.length === 0) return 'No vehicles here.';
      const [latest, oldest] = [Math.min(...ages), Math.max(...ages)].map(ageText);
      const count = ages.length === 1 ? '1 vehicle' : `${ages.length} vehicles`;
      return `${count}, reported ${latest === oldest ? latest : `${latest} to ${oldest}`} ago.`;
    },
  };
}

function badgeOf({ mode, route, bearing }) {
  const badge = textNode(route ?? LETTERS[mode] ?? '•', `vehicle-marker ${mode}`);
  if (route) badge.dataset.line = route;
  if (bearing !== null) {
    const arrow = textNode('', 'heading');
    arrow.style.setProperty('--bearing', `${bearing}deg`);
    badge.prepend(arrow);
  }
  return badge;
}

function describe({ vehicle, ageOf }) {
  const { mode, route, destination, next_call: next, occupancy, carriages } = vehicle;
  const parts = [
    [route ?? MODE_NAMES[mode], destination && `to ${destination}`].filter(Boolean).join(' '),
    next?.name && `next ${next.name}`,
    occupancy && wordsOf(occupancy),
    carriages?.some((carriage) => carriage.occupancy) && `carriages ${stripText(carriages)}`,
    `reported ${ageText(ageOf(vehicle))} ago`,
  ];
  return parts.filter(Boolean).join(' · ');
}
