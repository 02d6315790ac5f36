// Ages of displayed data. They use the browser's timer, so a wrong clock does no harm.

/** "8 s", "3 min" */
export function ageText(seconds) {
  return seconds < 120 ? `${Math.max(0, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;
}

/** Calls `work` at an interval while the page is visible, and immediately when it becomes visible after a pause. */
export function everyWhileVisible(ms, work) {
  let lastAt = performance.now();
  const run = () => {
    if (document.hidden || performance.now() - lastAt < ms - 100) return;
    lastAt = performance.now();
    work();
  };
  const timer = setInterval(run, ms);
  document.addEventListener('visibilitychange', run);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', run);
  };
}
