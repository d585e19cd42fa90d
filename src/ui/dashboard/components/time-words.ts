/** Writes how long a countdown has left, as a clock does: `1:47`, `22:10`, `5:41:03`, `12 d 4 h`. */
export function clockWords(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1_000));
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor(seconds / 3_600) % 24;
  if (days > 0) return `${days} d ${hours} h`;
  const minutes = Math.floor(seconds / 60) % 60;
  const tail = String(seconds % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`;
}

/** Writes how long something took or has been: `174 ms`, `5m 24s`, `3 h 2 min`, `4 days`. */
export function durationWords(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = Math.floor(milliseconds / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return days === 1 ? '1 day' : `${days} days`;
}

const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const dateAndTime = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'short',
  hourCycle: 'h23',
});

/** Writes a moment by the clock on the wall: `14:32:10`, with its day when that is not the day of `now`. */
export function momentWords(iso: string, now: number): string {
  const moment = new Date(iso);
  if (Number.isNaN(moment.getTime())) return iso;
  const today = new Date(now).toDateString() === moment.toDateString();
  return (today ? time : dateAndTime).format(moment);
}
