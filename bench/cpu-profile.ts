import { type Profiler, Session } from 'node:inspector/promises';

/** Starts a CPU profile with the given sampling interval; the returned function ends it. */
export async function startCpuProfile(everyMicroseconds: number): Promise<() => Promise<Profiler.Profile>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: everyMicroseconds });
  await session.post('Profiler.start');
  return async () => {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    return profile;
  };
}
