// The map: stops as circles, legs as lines in the colour of their mode. `path` and `lat, lng` are drawn as they come.
const L = globalThis.L;

const COLOURS = {
  train: '#d06a00',
  metro: '#12898f',
  lightrail: '#d62e3a',
  bus: '#0080b8',
  ferry: '#3c9130',
  coach: '#8a3199',
  schoolbus: '#967000',
  walk: '#5f6b72',
};
const SYDNEY = [-33.8688, 151.2093];
/** Not animated: across several zoom steps the circles would blow up for a moment. */
const FIT = { padding: [40, 40], animate: false };

/** @param {HTMLElement} element */
export function createMap(element, onClick) {
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const map = L.map(element, { zoomAnimation: !isCalm, fadeAnimation: !isCalm }).setView(SYDNEY, 14);
  map.attributionControl.setPrefix(false).addAttribution('Data: Transport for NSW, CC BY 4.0');
  const { tiles, attribution } = element.dataset;
  if (tiles) L.tileLayer(tiles, { attribution, maxZoom: 19 }).addTo(map);
  map.on('click', ({ latlng }) => onClick(latlng.lat, latlng.lng));

  const stops = L.layerGroup().addTo(map);
  const legs = L.layerGroup().addTo(map);

  return {
    middle: () => map.getCenter().wrap(),
    stopLayers: () => stops.getLayers(),
    legLayers: () => legs.getLayers(),

    /** Stops without a position are in the list only. */
    drawStops(list, onChoose) {
      stops.clearLayers();
      const placed = list.filter(({ lat, lng }) => lat !== null && lng !== null);
      for (const stop of placed) {
        const circle = L.circleMarker([stop.lat, stop.lng], {
          radius: 8,
          weight: 3,
          color: '#0b6b6f',
          fillColor: '#ffffff',
          fillOpacity: 1,
        });
        circle.bindTooltip(textNode(stop.name)).on('click', (event) => {
          L.DomEvent.stopPropagation(event);
          onChoose(stop);
        });
        stops.addLayer(circle);
      }
      if (placed.length > 0)
        map.fitBounds(
          placed.map(({ lat, lng }) => [lat, lng]),
          { ...FIT, maxZoom: 16 },
        );
    },

    drawJourney(journey) {
      stops.clearLayers();
      legs.clearLayers();
      for (const leg of journey.legs) {
        const line = L.polyline(leg.path, {
          color: COLOURS[leg.mode],
          weight: leg.mode === 'walk' ? 4 : 6,
          dashArray: leg.mode === 'walk' ? '1 9' : null,
          className: `leg leg-${leg.mode}`,
        });
        legs.addLayer(line.bindTooltip(textNode(leg.route ?? 'Walk')));
        for (const end of [leg.origin, leg.destination]) stops.addLayer(endOf(end));
      }
      map.fitBounds(L.latLngBounds(journey.legs.flatMap((leg) => leg.path)), { ...FIT });
    },

    clearJourney: () => legs.clearLayers(),
  };
}

function endOf({ lat, lng, name, platform }) {
  const circle = L.circleMarker([lat, lng], {
    radius: 6,
    weight: 2,
    color: '#1d2427',
    fillColor: '#ffffff',
    fillOpacity: 1,
  });
  return circle.bindTooltip(textNode([name, platform].filter(Boolean).join(', ')));
}

/** Leaflet takes strings for markup. */
function textNode(text) {
  const span = document.createElement('span');
  span.textContent = text;
  return span;
}
