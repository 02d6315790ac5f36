// The vehicles on the map. Each glides to its reported position and shows the age of its report.
import { ageText } from '../age.js';
import { createMarker, LETTERS, textNode } from './marker.js';
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

/** `isCalm`: vehicles jump instead of gliding. */
export function createVehicleLayer(map, isCalm, onFollow) {
  const layer = L.layerGroup().addTo(map);
  const drawn = new Map();

  function set(vehicles, ageOf) {
    const gone = new Set(drawn.keys());
    for (const vehicle of vehicles) {
      gone.delete(vehicle.vehicle_id);
      const entry = drawn.get(vehicle.vehicle_id) ?? draw(vehicle);
      if (entry.vehicle.reported_at !== vehicle.reported_at) {
        glide(entry, vehicle);
        entry.marker.getElement().replaceChildren(badgeOf(vehicle));
      }
      Object.assign(entry, { vehicle, ageOf });
    }
    for (const id of gone) remove(id);
    moveAll();
  }

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
    layer.addLayer(marker.on('click', follow));
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
      if (!marker.getLatLng().equals([to.lat, to.lng])) marker.setLatLng([between('lat'), between('lng')]);
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
    badge.append(arrow);
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
