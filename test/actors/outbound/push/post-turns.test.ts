import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PostTurns } from '../../../../src/actors/outbound/push/post-turns.ts';

const never = new AbortController().signal;

/** Posts that end when the test ends them; `begun` holds their names in order. */
function aPostOffice(options: { most: number; mostOfHost: number }) {
  const turns = new PostTurns(options);
  const begun: string[] = [];
  const open: { name: string; end: PromiseWithResolvers<void> }[] = [];
  const post = (host: string, name = host, signal = never) =>
    turns.take(host, signal, async () => {
      const end = Promise.withResolvers<void>();
      begun.push(name);
      open.push({ name, end });
      await end.promise;
    });
  /** Ends the oldest post that is under way. */
  const endOne = async () => {
    open.shift()?.end.resolve();
    await settle();
  };
  return { post, begun, open, endOne };
}

/** Lets every ready promise continue. */
const settle = () => new Promise(setImmediate);

describe('turns of posts', () => {
  it('begin in the order of the requests, up to the limit', async () => {
    const { post, begun, endOne } = aPostOffice({ most: 3, mostOfHost: 3 });
    const posts = ['1', '2', '3', '4', '5'].map((name) => post('a.test', name));
    await settle();
    expect(begun).toEqual(['1', '2', '3']);
    await endOne();
    expect(begun).toEqual(['1', '2', '3', '4']);
    for (let left = 4; left > 0; left -= 1) await endOne();
    await Promise.all(posts);
    expect(begun).toEqual(['1', '2', '3', '4', '5']);
  });

  it('keep places for every other host, however many wait for a silent one', async () => {
    const { post, begun, open } = aPostOffice({ most: 4, mostOfHost: 2 });
    const stuck = Array.from({ length: 20 }, () => post('stuck.test'));
    const good = ['1', '2', '3', '4', '5'].map((name) => post('good.test', name));
    await settle();
    expect(begun.toSorted()).toEqual(['1', '2', 'stuck.test', 'stuck.test']);
    for (let count = 0; count < 5; count += 1) {
      const at = open.findIndex(({ name }) => name !== 'stuck.test');
      open.splice(at, 1)[0]?.end.resolve();
      await settle();
    }
    await Promise.all(good);
    expect(begun.filter((name) => name === 'stuck.test')).toHaveLength(2);
    while (open.length > 0) {
      for (const { end } of open.splice(0)) end.resolve();
      await settle();
    }
    await Promise.all(stuck);
  });

  it('rotate among the hosts when there are more than places', async () => {
    const { post, begun, endOne } = aPostOffice({ most: 1, mostOfHost: 1 });
    // The first begins before any other request.
    const posts = ['a', 'a', 'a', 'b', 'b', 'c'].map((host) => post(host));
    await settle();
    for (let left = 6; left > 0; left -= 1) await endOne();
    await Promise.all(posts);
    expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'b']);
  });

  it('are dropped by their signal, and cost no other post its turn', async () => {
    const { post, begun, endOne } = aPostOffice({ most: 1, mostOfHost: 1 });
    const first = post('a.test', 'first');
    const stop = new AbortController();
    const given = post('a.test', 'given up', stop.signal);
    const last = post('a.test', 'last');
    stop.abort(new Error('the daemon stops'));
    await expect(given).rejects.toThrow('the daemon stops');
    await expect(post('a.test', 'late', stop.signal)).rejects.toThrow('the daemon stops');
    await endOne();
    await first;
    await endOne();
    await last;
    expect(begun).toEqual(['first', 'last']);
  });

  it('are free again after a failed post', async () => {
    const turns = new PostTurns({ most: 1, mostOfHost: 1 });
    const failing = turns.take('a.test', never, () => Promise.reject(new Error('refused')));
    await expect(failing).rejects.toThrow('refused');
    expect(await turns.take('a.test', never, async () => 'told')).toBe('told');
  });

  it('never exceed the limit, and reach every host', async () => {
    const asked = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 });
    const most = fc.integer({ min: 1, max: 6 });
    await fc.assert(
      fc.asyncProperty(asked, most, most, async (hosts, all, each) => {
        const turns = new PostTurns({ most: all, mostOfHost: each });
        const underway: string[] = [];
        const told: string[] = [];
        const post = (host: string) => async () => {
          underway.push(host);
          expect(underway.length).toBeLessThanOrEqual(all);
          expect(underway.filter((one) => one === host).length).toBeLessThanOrEqual(each);
          await settle();
          underway.splice(underway.indexOf(host), 1);
          told.push(host);
        };
        await Promise.all(hosts.map((host) => turns.take(host, never, post(host))));
        expect(told.toSorted()).toEqual(hosts.toSorted());
      }),
      { numRuns: 50 },
    );
  });
});
