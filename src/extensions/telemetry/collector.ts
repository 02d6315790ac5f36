import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { within } from '../../core/clock.ts';

/** What each span and log record says about its origin. The SDK's variables `OTEL_…` override it. */
export function serviceResource() {
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'transit-information-service' }))
    .merge(detectResources({ detectors: [envDetector] }));
}

/** Maximum delay of shutdown by a collector that does not respond. */
const CLOSE_MS = 2000;

/** Sends the remaining spans or log records. */
export async function closeProvider(provider: { shutdown(): Promise<void> }): Promise<void> {
  const tooLate = new Error('the collector does not respond');
  await within(CLOSE_MS, provider.shutdown(), () => tooLate).catch((error) => {
    if (error !== tooLate) throw error;
  });
}
