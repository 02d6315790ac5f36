// A provider for MMM-PublicTransportHub. Copy it into core/providers/, and add to core/ProviderFactory.mjs:
//   import TransitInformationProvider from "./providers/TransitInformationProvider.mjs"
//   case "transit-information": return new TransitInformationProvider(config)
// In config.js: provider: "transit-information", stationId: "200070", apiKey: "…", baseUrl: "http://localhost:3000"
import BaseProvider from './BaseProvider.mjs';

export default class TransitInformationProvider extends BaseProvider {
  async fetchDepartures() {
    const { baseUrl, stationId, apiKey } = this.config;
    const url = `${baseUrl}/v1/departures?stop=${stationId}&modes=all&limit=40&cancelled=include`;
    const response = await fetch(url, { headers: { Authorization: `Bearer ${apiKey}` } });
    const body = await response.json();
    if (!response.ok) throw Object.assign(new Error(body.error.message), { statusCode: response.status });
    return this.finalizeDepartures(body.departures.map(toDeparture));
  }
}

function toDeparture({ route, mode, destination, platform, scheduled_at, realtime_at, is_live, alerts, cancelled }) {
  return {
    when: realtime_at ?? scheduled_at,
    plannedWhen: scheduled_at,
    rawWhen: realtime_at ?? scheduled_at,
    rawPlannedWhen: scheduled_at,
    realTime: is_live,
    delay: realtime_at ? (Date.parse(realtime_at) - Date.parse(scheduled_at)) / 1000 : null,
    direction: destination,
    line: { id: route, name: route, product: mode },
    platform,
    remarks: alerts.map((text) => ({ type: 'warning', text })),
    canceled: cancelled,
  };
}
