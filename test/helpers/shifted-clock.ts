// Is loaded into a daemon before its own code: the wall clock of its machine is HOLDPOINT_CLOCK_SHIFT milliseconds ahead.
const ahead = Number(process.env['HOLDPOINT_CLOCK_SHIFT']);

const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, values: [], made) =>
    Reflect.construct(
      target,
      values.length === 0 ? [RealDate.now() + ahead] : values,
      made,
    ) as Date,
  apply: () => new RealDate(RealDate.now() + ahead).toString(),
  get: (target, name, receiver) =>
    name === 'now'
      ? () => RealDate.now() + ahead
      : (Reflect.get(target, name, receiver) as unknown),
});
