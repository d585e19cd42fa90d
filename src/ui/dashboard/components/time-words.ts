/** Formats the remaining time of a countdown like a clock: `1:47`, `22:10`, `5:41:03`, `12 d 4 h`. */
export function clockWords(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1_000));
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor(seconds / 3_600) % 24;
  if (days > 0) return `${days} d ${hours} h`;
  const minutes = Math.floor(seconds / 60) % 60;
  const tail = String(seconds % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`;
}

/** Formats the same for screen readers: `1 minute 47 seconds`, rounded to minutes from one hour on. */
export function spokenWords(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1_000));
  const parts = [
    counted(Math.floor(seconds / 86_400), 'day'),
    counted(Math.floor(seconds / 3_600) % 24, 'hour'),
    counted(Math.floor(seconds / 60) % 60, 'minute'),
    seconds < 3_600 ? counted(seconds % 60, 'second') : '',
  ].filter((part) => part !== '');
  return parts.slice(0, 2).join(' ') || '0 seconds';
}

function counted(count: number, unit: string): string {
  return count === 0 ? '' : `${count} ${unit}${count === 1 ? '' : 's'}`;
}

const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
const day = { month: 'short', day: 'numeric' } as const;
const formats = {
  time: clock,
  dayAndTime: { ...day, ...clock },
  dateAndTime: { year: 'numeric', ...day, ...clock },
} as const;

/** Created on first use, because each formatter is expensive to create. */
const made: Partial<Record<keyof typeof formats, Intl.DateTimeFormat>> = {};

function format(name: keyof typeof formats, moment: Date): string {
  return (made[name] ??= new Intl.DateTimeFormat(undefined, formats[name])).format(moment);
}

/** Formats a deadline in local time: `at 14:32:10`, or `on` a day if that is not today. */
export function deadlineWords(iso: string, now: number): string {
  const isToday = new Date(iso).toDateString() === new Date(now).toDateString();
  return `${isToday ? 'at' : 'on'} ${momentWords(iso, now)}`;
}

/** Formats a time in local time: `14:32:10`, with day and year if they differ from `now`. */
export function momentWords(iso: string, now: number): string {
  const moment = new Date(iso);
  if (Number.isNaN(moment.getTime())) return iso;
  const here = new Date(now);
  if (here.toDateString() === moment.toDateString()) return format('time', moment);
  return format(here.getFullYear() === moment.getFullYear() ? 'dayAndTime' : 'dateAndTime', moment);
}

/** Formats the time of day in local time: `14:32:10`. */
export function timeWords(iso: string): string {
  const moment = new Date(iso);
  return Number.isNaN(moment.getTime()) ? iso : format('time', moment);
}
