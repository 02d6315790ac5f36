// Shows the page's times in the reader's time zone. Without this script they are Sydney times.
const digits = (number) => String(number).padStart(2, '0');

for (const element of document.querySelectorAll('time[data-local]')) {
  const moment = new Date(element.dateTime);
  const day = `${moment.getFullYear()}-${digits(moment.getMonth() + 1)}-${digits(moment.getDate())}`;
  const clock = `${digits(moment.getHours())}:${digits(moment.getMinutes())}`;
  element.textContent = { time: clock, date: day, 'date-time': `${day} ${clock}` }[element.dataset.local];
}

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
// A reader in UTC would see the same time twice.
if (zone === 'UTC') for (const element of document.querySelectorAll('[data-utc]')) element.remove();
if (zone !== 'Australia/Sydney') {
  for (const element of document.querySelectorAll('[data-zone]')) element.textContent = `your time (${zone})`;
}
