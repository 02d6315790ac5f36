// The map: stops by mode, clustered where they are close, and legs in their line colours. `path` and `lat, lng` are used
// unchanged.
import { drawBase } from './base-map.js';
import { findRoomForNames, groupByCell } from './clusters.js';
import { partBetween, positionAt } from './course.js';
import { createLabel, createMarker, LETTERS, textNode } from './marker.js';
import { nameModes } from './mode-names.js';
import { createVehicleLayer } from './vehicles.js';

const L = globalThis.L;

export const SYDNEY = { lat: -33.8688, lng: 151.2093, zoom: 14 };
/** From this zoom on, stops are not clustered. */
const NO_CLUSTERS_FROM_ZOOM = 17;
/** No animation, because markers would briefly look huge across several zoom steps. */
const STILL = { animate: false };
const MARGIN = 40;

/**
 * @param {HTMLElement} element
 * @param {{ onClick: (lat: number, lng: number) => void, onChoose: (stop: object) => void, onFollow: (runId: string) => void, onMove: () => void, coveredHeight: () => number }} options
 *   `coveredHeight` is how much of the map lies under the sheet, in pixels
 */
export function createMap(element, { onClick, onChoose, onFollow, onMove, coveredHeight }) {
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const map = L.map(element, { zoomAnimation: !isCalm, fadeAnimation: !isCalm, minZoom: 5, maxZoom: 19 });
  map.setView(SYDNEY, SYDNEY.zoom);
  map.attributionControl.setPrefix(false).addAttribution('Data: Transport for NSW, CC BY 4.0');
  map.on('click', ({ latlng }) => onClick(latlng.lat, latlng.lng));
  map.createPane('labels').classList.add('labels-pane');
  const stops = L.layerGroup().addTo(map);
  const legs = L.layerGroup().addTo(map);
  const ends = L.layerGroup().addTo(map);
  const vehicles = createVehicleLayer(map, isCalm, onFollow);
  let listed = [];
  let inWindow = [];
  let chosenId = null;
  let drawn = [];
  /** The named ends of what is chosen: `{ lat, lng, name }`. */
  let namedEnds = [];
  let followedAt = null;
  drawBase(map, element, () => [...drawn, ...namedEnds.map((end) => ({ ...end, ...map.latLngToContainerPoint(end) }))]);
  map.on('zoomend', drawStops);
  map.on('moveend', onMove);

  /** Returns the padding for the part of the map that nothing covers. */
  const freePart = () => ({
    paddingTopLeft: [MARGIN, MARGIN],
    paddingBottomRight: [MARGIN, MARGIN + coveredHeight()],
    ...STILL,
  });

  function show({ lat, lng, zoom }) {
    map.setView([lat, lng], zoom, STILL);
    map.panBy([0, coveredHeight() / 2], STILL);
  }

  function middle() {
    const { x, y } = map.getSize();
    return map.containerPointToLatLng([x / 2, (y - coveredHeight()) / 2]).wrap();
  }

  function drawStops() {
    stops.clearLayers();
    const points = [...listed, ...inWindow].map((stop) => ({
      ...map.latLngToContainerPoint([stop.lat, stop.lng]),
      item: stop,
    }));
    const isClose = map.getZoom() < NO_CLUSTERS_FROM_ZOOM;
    const groups = isClose ? groupByCell(points) : points.map(({ x, y, item }) => ({ x, y, items: [item] }));
    const markers = groups.map(({ x, y, items }) => ({ x, y, name: items.length === 1 ? shortName(items[0]) : '' }));
    const named = findRoomForNames(markers);
    drawn = markers.map((marker, index) => (named.has(index) ? marker : { ...marker, name: '' }));
    for (const [index, { items }] of groups.entries()) {
      const isOne = items.length === 1;
      stops.addLayer(isOne ? stopMarker(items[0]) : clusterMarker(items));
      if (isOne && named.has(index)) stops.addLayer(createLabel(items[0], shortName(items[0]), 'stop-label'));
    }
    map.fire('markersdrawn');
  }

  function stopMarker(stop) {
    const [mode] = stop.modes ?? [];
    const badge = textNode(LETTERS[mode] ?? '•', `stop-marker ${mode ?? ''}`);
    badge.classList.toggle('chosen', stop.stop_id === chosenId);
    return createMarker(stop, badge)
      .bindTooltip(textNode([stop.name, ...nameModes(stop.modes)].join(' · ')))
      .on('click', (event) => {
        L.DomEvent.stopPropagation(event);
        onChoose(stop);
      });
  }

  function clusterMarker(items) {
    const bounds = L.latLngBounds(items.map(({ lat, lng }) => [lat, lng]));
    return createMarker(bounds.getCenter(), textNode(String(items.length), 'stop-cluster')).on('click', (event) => {
      L.DomEvent.stopPropagation(event);
      map.fitBounds(bounds, { ...freePart(), maxZoom: Math.max(NO_CLUSTERS_FROM_ZOOM, map.getZoom() + 1) });
    });
  }

  /** Lets what is chosen stand out: other lines fade, and only vehicles of its rides are shown. */
  function focusOn(rides, named = []) {
    element.classList.toggle('focused', rides !== null);
    vehicles.show(rides);
    namedEnds = [...new Map(named.map((end) => [shortName(end), { ...end, name: shortName(end) }])).values()];
    for (const end of namedEnds) ends.addLayer(createLabel(end, end.name, 'stop-label'));
    map.fire('markersdrawn');
  }

  return {
    view: () => ({ ...middle(), zoom: map.getZoom() }),
    show,
    vehicles,
    stopLayers: () => ends.getLayers().filter((layer) => layer.options.pane !== 'labels'),
    legLayers: () => legs.getLayers(),
    toLayerPoint: (position) => map.latLngToLayerPoint(position),

    /** Shows stops; those without a position appear only in the list. */
    setStops(list, { isFitted = false } = {}) {
      listed = list.filter(({ lat, lng }) => typeof lat === 'number' && typeof lng === 'number');
      inWindow = [];
      if (isFitted && listed.length > 0)
        map.fitBounds(L.latLngBounds(listed.map(({ lat, lng }) => [lat, lng])), { ...freePart(), maxZoom: 16 });
      drawStops();
    },

    /** Returns the map window as `south,west,north,east`, with a margin for small moves; null if wider than `widest` degrees. */
    window(widest) {
      const bounds = map.getBounds();
      const [south, west] = [bounds.getSouth(), bounds.getWest()].map((degrees) => Math.floor(degrees * 100) / 100);
      const [north, east] = [bounds.getNorth(), bounds.getEast()].map((degrees) => Math.ceil(degrees * 100) / 100);
      if (north - south > widest || east - west > widest) return null;
      return [south, west, north, east].map((degrees) => degrees.toFixed(2)).join(',');
    },

    /** Adds stops of the current window. */
    addStops(list) {
      const known = new Set(listed.map(({ stop_id }) => stop_id));
      inWindow = list.filter(({ stop_id }) => !known.has(stop_id));
      drawStops();
    },

    stopsInSight: () => [...listed, ...inWindow].filter((stop) => map.getBounds().contains([stop.lat, stop.lng])),

    /** Highlights a stop and moves to it. */
    choose(stopId) {
      chosenId = stopId;
      const stop = [...listed, ...inWindow].find(({ stop_id }) => stop_id === stopId);
      if (stop) map.panInside([stop.lat, stop.lng], freePart());
      drawStops();
    },

    /** Draws a journey; a leg without a path is a straight line. */
    drawJourney(journey, { isFitted = true } = {}) {
      this.clearJourney();
      const points = [];
      for (const { mode, route, path, origin, destination } of journey.legs) {
        const way = path.length > 0 ? path : [origin, destination].map(({ lat, lng }) => [lat, lng]);
        const isWalk = mode === 'walk';
        const line = L.polyline(way, {
          weight: isWalk ? 4 : 6,
          dashArray: isWalk ? '1 9' : null,
          className: `leg ${mode}`,
        });
        legs.addLayer(line.bindTooltip(textNode(route ?? 'Walk')));
        if (route) line.getElement().dataset.line = route;
        for (const end of [origin, destination]) ends.addLayer(endOf(end));
        points.push(...way);
      }
      const rides = journey.legs.filter(({ mode }) => mode !== 'walk');
      focusOn(
        rides,
        rides.flatMap(({ origin, destination }) => [origin, destination]),
      );
      if (isFitted) map.fitBounds(L.latLngBounds(points), freePart());
    },

    /** Draws the courses and stops of a line. */
    drawLine({ mode, route, directions, features }) {
      this.clearJourney();
      const lines = features
        .flatMap(coursesOf)
        .map((course) => L.polyline(course, { weight: 5, className: `leg ${mode}` }));
      for (const line of lines) {
        legs.addLayer(line.bindTooltip(textNode(route)));
        line.getElement().dataset.line = route;
      }
      const called = new Map(directions.flatMap((direction) => direction.stops).map((stop) => [stop.stop_id, stop]));
      for (const stop of called.values()) if (stop.lat !== null) ends.addLayer(endOf(stop));
      focusOn([{ mode, route }]);
      if (lines.length > 0) map.fitBounds(L.featureGroup(lines).getBounds(), { ...freePart(), maxZoom: 15 });
    },

    /** Draws the area of a GeoJSON response, which may be empty. */
    drawArea({ features }) {
      this.clearJourney();
      const area = L.geoJSON(features, {
        interactive: false,
        style: { className: 'reach', weight: 1.5, fillOpacity: 0.3 },
      });
      legs.addLayer(area);
      focusOn([]);
      if (area.getBounds().isValid()) map.fitBounds(area.getBounds(), freePart());
    },

    /** Draws a run's stops and course, and the vehicle at its position estimated from the times. `line` may be null. */
    drawRun({ calls, mode, route, destination, position }, { last, now, line: ofLine, isFitted }) {
      this.clearJourney();
      const made = (calls ?? []).filter(({ lat, lng, cancelled }) => lat !== null && lng !== null && !cancelled);
      if (made.length === 0) return;
      const points = made.map(({ lat, lng }) => [lat, lng]);
      const courses = (ofLine?.features ?? []).flatMap(coursesOf);
      const parts = made.slice(1).map((call, index) => partBetween(courses, made[index], call));
      const way = parts.length > 0 ? parts.flat() : points;
      const line = L.polyline(way, { weight: 5, className: `leg ${mode}` }).bindTooltip(textNode(route));
      legs.addLayer(line);
      line.getElement().dataset.line = route;
      for (const call of made) ends.addLayer(endOf(call));
      focusOn([{ mode, route }]);
      if (position !== null && made.includes(last)) {
        const badge = textNode(LETTERS[mode], `stop-marker vehicle ${mode}`);
        badge.dataset.line = route;
        const index = made.indexOf(last);
        const [lat, lng] = positionAt(parts[index] ?? [points[index]], shareBetween(last, made[index + 1], now));
        ends.addLayer(
          createMarker({ lat, lng }, badge).bindTooltip(textNode(`${route} to ${destination}: ${position}`)),
        );
        // Follows the vehicle, unless the reader has moved the map away from it.
        if (!isFitted && followedAt && map.getBounds().contains(followedAt)) map.panInside([lat, lng], freePart());
        followedAt = [lat, lng];
      }
      if (isFitted) map.fitBounds(L.latLngBounds(points), { ...freePart(), maxZoom: 15 });
    },

    clearJourney() {
      legs.clearLayers();
      ends.clearLayers();
      focusOn(null);
    },
  };
}

/** Returns the lines of a GeoJSON feature as [lat, lng]. */
function coursesOf({ geometry }) {
  return geometry.coordinates.map((course) => course.map(([lng, lat]) => [lat, lng]));
}

/** Returns the share of the way between two stops by time. */
function shareBetween(last, next, now) {
  const timeOf = (...times) => Date.parse(times.find((time) => time !== null && time !== undefined));
  if (!next) return 0;
  const left = timeOf(last.departs_at_realtime, last.departs_at, last.arrives_at_realtime, last.arrives_at);
  const reached = timeOf(next.arrives_at_realtime, next.arrives_at, next.departs_at_realtime, next.departs_at);
  return Math.min(1, Math.max(0, (now - left) / (reached - left))) || 0;
}

function endOf({ lat, lng, name, platform }) {
  const circle = L.circleMarker([lat, lng], { radius: 6, weight: 2, className: 'leg-end', fillOpacity: 1 });
  return circle.bindTooltip(textNode([name, platform].filter(Boolean).join(', ')));
}

/** Returns the name without its suburb. */
function shortName({ name }) {
  return name.split(',', 1)[0];
}
