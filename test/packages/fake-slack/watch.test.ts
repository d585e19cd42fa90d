import { describe, expect, it } from 'vitest';
import { Watch } from '../../../packages/fake-slack/watch.ts';

describe('a watch', () => {
  it('resolves with an existing entry', async () => {
    expect(await new Watch().until(() => 'there')).toBe('there');
  });

  it('resolves with a later entry, and stops', async () => {
    const watch = new Watch();
    let [found, looks]: [string | undefined, number] = [undefined, 0];
    const waiting = watch.until(() => {
      looks += 1;
      return found;
    });
    watch.look();
    found = 'late';
    watch.look();
    watch.look();
    expect(await waiting).toBe('late');
    expect(looks).toBe(3);
  });

  it('rejects with the reason of the signal, and stops', async () => {
    const watch = new Watch();
    const leave = new AbortController();
    let looks = 0;
    const waiting = watch.until(() => {
      looks += 1;
      return undefined;
    }, leave.signal);
    const reason = new Error('left');
    leave.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    watch.look();
    expect(looks).toBe(1);
  });

  it('rejects at once when the signal has aborted', async () => {
    const reason = new Error('gone');
    await expect(new Watch().until(() => 'there', AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
