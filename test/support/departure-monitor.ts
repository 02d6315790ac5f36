/** A response of the departure monitor with a bus at each of the given times. */
export function departureMonitor(...planned: string[]) {
  const stop = { id: '200060', name: 'Central Station, Sydney', type: 'stop', isBest: true };
  return {
    version: '10.2.1.42',
    locations: [stop],
    stopEvents: planned.map((departureTimePlanned, index) => ({
      departureTimePlanned,
      location: { id: '2000335', name: 'Central Station, Stand A', type: 'platform', parent: stop },
      transportation: {
        id: `nsw:14${index}`,
        number: String(400 + index),
        product: { class: 5, iconId: 5 },
        destination: { name: 'Bondi Junction via a long road that makes the answer worth packing' },
      },
    })),
  };
}

/** The response to that upstream request: the board of its stop. */
export function departureMonitorFor(requestUrl: string | undefined, ...planned: string[]): string {
  const stop = new URLSearchParams(requestUrl?.split('?')[1]).get('name_dm') ?? '200060';
  return JSON.stringify(departureMonitor(...planned)).replaceAll('"200060"', JSON.stringify(stop));
}
