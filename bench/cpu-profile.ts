import { type Profiler, Session } from 'node:inspector/promises';

/** Takes a CPU profile of this process until it is told to stop. A sample is taken so often. */
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
