import { describe, expect, it } from 'vitest';
import {
  handoverAfter,
  onDuty,
  type Rotation,
  rotationFaults,
} from '../../../src/actors/people/people.ts';

const [ann, bo, cy] = ['ann@example.com', 'bo@example.com', 'cy@example.com'];
const here = () => false;

const weekly: Rotation = {
  ...{ zone: 'Europe/Berlin', people: [ann, bo, cy], starts: '2026-10-19T09:00', days: 7 },
  ...{ shifts: [], overrides: [] },
};

const at = (time: string) => Date.parse(time);

describe('rotation turns', () => {
  it.each([
    ['2026-10-19T07:00:00Z', ann],
    ['2026-10-19T06:59:59Z', cy],
    ['2026-10-12T07:00:00Z', cy],
    ['2026-10-12T06:59:59Z', bo],
    // The clocks of Berlin go back on 25 October; the handover stays at 9:00 there.
    ['2026-10-26T07:59:59Z', ann],
    ['2026-10-26T08:00:00Z', bo],
    ['2026-11-02T08:00:00Z', cy],
    ['2026-11-09T08:00:00Z', ann],
  ])('at %s belong to %s', (time, person) => {
    expect(onDuty(weekly, at(time), here)).toEqual([person]);
  });

  it('skip absent people', () => {
    const time = at('2026-10-20T12:00:00Z');
    expect(onDuty(weekly, time, (one) => one === ann)).toEqual([bo]);
    expect(onDuty(weekly, time, () => true)).toEqual([]);
  });

  it('change once where the local hour occurs twice', () => {
    const night = { ...weekly, people: [ann, bo], starts: '2026-10-18T02:30' };
    const times = [
      '00:29:59',
      '00:30:00',
      '00:59:59',
      '01:00:00',
      '01:29:59',
      '01:30:00',
      '02:00:00',
    ];
    expect(times.map((time) => onDuty(night, at(`2026-10-25T${time}Z`), here)[0])).toEqual([
      ...[ann, bo, bo, bo, bo, bo, bo],
    ]);
    expect(handoverAfter(night, at('2026-10-25T00:00:00Z'), here)).toBe(at('2026-10-25T00:30:00Z'));
    expect(handoverAfter(night, at('2026-10-25T00:30:00Z'), here)).toBe(at('2026-11-01T01:30:00Z'));
  });

  it('are not given to an absent override', () => {
    const [from, until] = [at('2026-10-20T00:00:00Z'), at('2026-10-21T00:00:00Z')];
    const overridden = { ...weekly, overrides: [{ person: cy, from, until }] };
    const awayAt = (...away: string[]) => onDuty(overridden, from, (one) => away.includes(one));
    expect([awayAt(cy), awayAt(cy, ann), awayAt(ann)]).toEqual([[ann], [bo], [cy]]);
  });

  it('are replaced by an override', () => {
    const [from, until] = [at('2026-10-20T00:00:00Z'), at('2026-10-21T00:00:00Z')];
    const overridden = { ...weekly, overrides: [{ person: cy, from, until }] };
    const times = [from - 1, from, until - 1, until];
    expect(times.map((time) => onDuty(overridden, time, here))).toEqual([
      ...[[ann], [cy], [cy], [ann]],
    ]);
  });
});

const allDays = [1, 2, 3, 4, 5, 6, 7];
const shifts = [
  { person: ann, days: [1, 2, 3, 4, 5], from: 540, to: 1_020 },
  { person: bo, days: [1, 2, 3, 4, 5], from: 0, to: 540 },
  { person: bo, days: [1, 2, 3, 4, 5], from: 1_020, to: 1_440 },
  { person: cy, days: [6, 7], from: 0, to: 1_440 },
];
const byShifts: Rotation = { ...weekly, people: [], starts: '', shifts };

describe('rotation shifts', () => {
  it.each([
    ['2026-10-19T06:59:00Z', [bo]],
    ['2026-10-19T07:00:00Z', [ann]],
    ['2026-10-19T15:00:00Z', [bo]],
    ['2026-10-24T12:00:00Z', [cy]],
  ])('at %s belong to %j', (time, people) => {
    expect(onDuty(byShifts, at(time), here)).toEqual(people);
  });

  it('change once where the local hour occurs twice', () => {
    const night = {
      ...byShifts,
      shifts: [
        { person: ann, days: allDays, from: 0, to: 150 },
        { person: bo, days: allDays, from: 150, to: 1_440 },
      ],
    };
    const times = ['00:29:59', '00:30:00', '01:00:00', '01:29:59', '01:30:00', '02:00:00'];
    expect(times.map((time) => onDuty(night, at(`2026-10-25T${time}Z`), here)[0])).toEqual([
      ...[ann, bo, bo, bo, bo, bo],
    ]);
  });

  it.each<[string, Rotation, string[]]>([
    ['none', byShifts, []],
    [
      'a gap',
      { ...byShifts, shifts: shifts.slice(0, 3) },
      ['no one is on call from Saturday 00:00; add a shift'],
    ],
    [
      'an overlap',
      { ...byShifts, shifts: [...shifts, { person: ann, days: allDays, from: 1_020, to: 1_021 }] },
      ['two shifts overlap at Monday 17:00; shorten one'],
    ],
    [
      'two overrides at once',
      {
        ...weekly,
        overrides: [
          { person: bo, from: at('2026-10-21T00:00:00Z'), until: at('2026-10-22T00:00:00Z') },
          { person: cy, from: at('2026-10-20T00:00:00Z'), until: at('2026-10-21T00:00:01Z') },
        ],
      },
      ['two overrides overlap at 2026-10-21T00:00:00.000Z; shorten one'],
    ],
  ])('with %s are reported', (_, rotation, faults) => {
    expect(rotationFaults(rotation)).toEqual(faults);
  });
});

describe('the next handover', () => {
  const later = (rotation: Rotation, time: string, isAway = (_: string, _at: number) => false) => {
    const found = handoverAfter(rotation, at(time), isAway);
    return found === null ? null : new Date(found).toISOString();
  };

  it('of turns is at their local time, also when the clocks change', () => {
    expect([
      later(weekly, '2026-10-20T12:00:00Z'),
      later(weekly, '2026-10-26T08:00:00Z'),
      later(weekly, '2026-10-26T07:59:59Z'),
    ]).toEqual([
      '2026-10-26T08:00:00.000Z',
      '2026-11-02T08:00:00.000Z',
      '2026-10-26T08:00:00.000Z',
    ]);
  });

  it('of shifts and overrides is exact to the second', () => {
    const shifts = [
      { person: bo, days: [1, 2, 3, 4, 5], from: 0, to: 1_440 },
      { person: ann, days: [6, 7], from: 0, to: 1_440 },
    ];
    const [from, until] = [at('2026-10-24T01:07:11Z'), at('2026-10-24T01:30:00Z')];
    const desk = { ...weekly, people: [], shifts, overrides: [{ person: cy, from, until }] };
    expect([
      later(desk, '2026-10-23T12:00:00Z'),
      later(desk, '2026-10-23T22:00:00Z'),
      later(desk, '2026-10-24T01:10:00Z'),
    ]).toEqual([
      '2026-10-23T22:00:00.000Z',
      '2026-10-24T01:07:11.000Z',
      '2026-10-24T01:30:00.000Z',
    ]);
  });

  it('may be the beginning of an absence, and is none for one person', () => {
    const away = at('2026-10-21T10:00:00Z');
    expect([
      later(weekly, '2026-10-20T12:00:00Z', (person, moment) => person === ann && moment >= away),
      later({ ...weekly, people: [ann] }, '2026-10-20T12:00:00Z'),
    ]).toEqual(['2026-10-21T10:00:00.000Z', null]);
  });
});
