import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Admission } from '../../../../src/actors/access/admission/admission.ts';
import type { AdmissionVerdict } from '../../../../src/machines/admission/admission-answer.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { canary, denial, type FakePlatform, says, startFakePlatform } from './fake-platform.ts';
import { recordSpans } from './span-recorder.ts';

const start = Date.parse('2026-11-21T12:00:00Z');

const admitted: AdmissionVerdict = {
  decision: 'admit',
  reason: '',
  scope: '',
  window: '',
  resetAt: '',
  cached: false,
  fallback: false,
};
const denied: AdmissionVerdict = {
  decision: 'deny',
  reason: 'cost_limit_exceeded',
  scope: 'workspace',
  window: 'daily',
  resetAt: '2026-11-22T00:00:00Z',
  cached: false,
  fallback: false,
};
const fallback: AdmissionVerdict = { ...admitted, fallback: true };

/** Admission at a platform, on a clock that a test moves. */
function startAdmission(platform: FakePlatform) {
  const clock = new ManualClock(start);
  const log: [level: string, fields: object, message: string][] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void log.push([level, fields, message]);
  const admission = new Admission({
    settings: platform.settings(),
    agentId: 'till',
    clock,
    log: { info: at('info'), warn: at('warn'), error: at('error') },
  });
  onTestFinished(() => admission.stop());
  return { admission, clock, log };
}

describe('admission at a platform', () => {
  it('asks once for three checks in a window', async () => {
    const platform = await startFakePlatform();
    const { admission, log } = startAdmission(platform);
    const verdicts = [await admission.check(), await admission.check(), await admission.check()];
    expect(verdicts).toEqual([
      admitted,
      { ...admitted, cached: true },
      { ...admitted, cached: true },
    ]);
    expect(platform.calls).toHaveLength(1);
    expect({ log, fallbacks: admission.fallbacks() }).toEqual({ log: [], fallbacks: 0 });
  });

  it('sends no request before the first check', async () => {
    const platform = await startFakePlatform();
    const { admission, clock } = startAdmission(platform);
    clock.advance(60_000);
    expect(platform.calls).toEqual([]);
    expect(await admission.check()).toEqual(admitted);
  });

  it('asks again after the window, and uses the new answer', async () => {
    const platform = await startFakePlatform();
    const { admission, clock } = startAdmission(platform);
    platform.reply = says(denial);
    expect(await admission.check()).toEqual(denied);
    platform.reply = says({ decision: 'admit' });
    clock.advance(4_999);
    expect(await admission.check()).toEqual({ ...denied, cached: true });
    clock.advance(1);
    expect(await admission.check()).toEqual(admitted);
    expect(platform.calls).toHaveLength(2);
  });

  it.each([-3_600_000, 3_600_000])(
    'is not affected by a wall clock that jumps by %i ms',
    async (by) => {
      const platform = await startFakePlatform();
      platform.reply = says(denial);
      const { admission, clock } = startAdmission(platform);
      expect(await admission.check()).toEqual(denied);
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + by });
      onTestFinished(() => void vi.useRealTimers());
      expect(await admission.check()).toEqual({ ...denied, cached: true });
      clock.advance(5_000);
      platform.reply = says({ decision: 'admit' });
      expect(await admission.check()).toEqual(admitted);
      expect(platform.calls).toHaveLength(2);
    },
  );

  it('makes one call for a thousand concurrent checks, of which one is not cached', async () => {
    const platform = await startFakePlatform();
    platform.reply = says(denial);
    const { admission } = startAdmission(platform);
    const checks = Array.from({ length: 1_000 }, () => admission.check());
    const [first, ...others] = await Promise.all(checks);
    expect(first).toEqual(denied);
    expect(others).toEqual(Array(999).fill({ ...denied, cached: true }));
    expect(platform.calls).toHaveLength(1);
  });

  it('admits when the call fails, with one warning in a window', async () => {
    const platform = await startFakePlatform();
    platform.reply = says('down', 500);
    const { admission, clock, log } = startAdmission(platform);
    expect(await Promise.all([admission.check(), admission.check()])).toEqual([
      fallback,
      { ...fallback, cached: true },
    ]);
    clock.advance(4_000);
    expect(await admission.check()).toEqual({ ...fallback, cached: true });
    clock.advance(1_000);
    expect(await admission.check()).toEqual(fallback);
    const warning = (until: string) => [
      'warn',
      {
        agent_id: 'till',
        error: 'the platform answered 500; it must answer 200',
        cached_until: until,
      },
      'admission: call failed, admitting',
    ];
    expect(log).toEqual([warning('2026-11-21T12:00:05.000Z'), warning('2026-11-21T12:00:10.000Z')]);
    expect(platform.calls).toHaveLength(2);
    expect(admission.fallbacks()).toBe(4);
  });

  it('denies again as soon as a platform that had failed answers', async () => {
    const platform = await startFakePlatform();
    platform.reply = (response) => void response.destroy();
    const { admission, clock } = startAdmission(platform);
    expect(await admission.check()).toEqual(fallback);
    platform.reply = says(denial);
    clock.advance(5_000);
    expect(await admission.check()).toEqual(denied);
  });

  it('does not reveal its token', async () => {
    const platform = await startFakePlatform();
    const spans = recordSpans();
    const { admission, clock, log } = startAdmission(platform);
    const verdicts: AdmissionVerdict[] = [];
    for (const reply of [says({ decision: canary }), says(canary), says({}, 302)]) {
      platform.reply = reply;
      verdicts.push(await admission.check());
      clock.advance(5_000);
    }
    expect(platform.calls.every(({ headers }) => headers.authorization?.includes(canary))).toBe(
      true,
    );
    expect(JSON.stringify([verdicts, log, spans, admission])).not.toContain(canary);
  });

  it('admits even when it throws, and reports it', async () => {
    const platform = await startFakePlatform();
    platform.reply = says('down', 500);
    const defect = new Error('the log is broken');
    const errors: [object, string][] = [];
    const admission = new Admission({
      settings: platform.settings(),
      agentId: 'till',
      clock: new ManualClock(start),
      log: {
        info: () => undefined,
        warn: () => {
          throw defect;
        },
        error: (fields, message) => void errors.push([fields, message]),
      },
    });
    expect(await admission.check()).toEqual(fallback);
    expect(await admission.check()).toEqual(fallback);
    expect(errors).toEqual([[{ error: defect, agent_id: 'till' }, 'admission: broke, admitting']]);
  });

  it('admits waiting checks when it stops, aborts the call, and makes no other', async () => {
    const platform = await startFakePlatform();
    const gone = Promise.withResolvers<void>();
    const { admission, log } = startAdmission(platform);
    platform.reply = (response) => {
      response.once('close', () => gone.resolve());
      admission.stop();
    };
    expect(await admission.check()).toEqual(fallback);
    await gone.promise;
    expect(await admission.check()).toEqual(fallback);
    expect({ calls: platform.calls.length, log }).toEqual({ calls: 1, log: [] });
  });
});

describe('the spans of admission', () => {
  const attributes = (verdict: Partial<AdmissionVerdict>) => ({
    'forge.admission.decision': 'admit',
    'forge.admission.reason': '',
    'forge.admission.scope': '',
    'forge.admission.window': '',
    'forge.admission.cached': false,
    'forge.admission.fallback': false,
    ...Object.fromEntries(
      Object.entries(verdict).map(([key, value]) => [`forge.admission.${key}`, value]),
    ),
  });
  const call = (isFailed: boolean) => ({
    name: 'http.client',
    parent: 'admission.check',
    attributes: {
      'http.request.method': 'GET',
      'server.address': '127.0.0.1',
      'server.port': expect.any(Number),
    },
    isFailed,
  });
  const check = (verdict: Partial<AdmissionVerdict>) => ({
    name: 'admission.check',
    parent: null,
    attributes: attributes(verdict),
    isFailed: verdict.decision === 'deny',
  });

  it('show each check, and nest the call in the check that made it', async () => {
    const platform = await startFakePlatform();
    platform.reply = says(denial);
    const spans = recordSpans();
    const { admission } = startAdmission(platform);
    await Promise.all([admission.check(), admission.check()]);
    await admission.check();
    const { decision, reason, scope, window } = denied;
    const said = { decision, reason, scope, window };
    expect(spans).toEqual([
      call(false),
      check(said),
      check({ ...said, cached: true }),
      check({ ...said, cached: true }),
    ]);
  });

  it('show a fallback without a separate error', async () => {
    const platform = await startFakePlatform();
    platform.reply = says('down', 503);
    const spans = recordSpans();
    const { admission } = startAdmission(platform);
    await admission.check();
    expect(spans).toEqual([call(true), check({ fallback: true })]);
  });
});
