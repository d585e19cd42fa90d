import * as restate from '@restatedev/restate-sdk';
import { serveHolds } from '../serve-holds.ts';
import { serveWorkflow } from './endpoint.mjs';

const waitingCalls =
  "SELECT service_key AS id, value_utf8 AS text FROM state WHERE service_name = 'held' AND key = 'hold'";

await serveHolds(async ({ run, ...start }) => {
  const held = restate.workflow({
    name: 'held',
    handlers: {
      run: async (ctx, { seconds, ...call }) => {
        ctx.set('hold', { status: 'pending', ...call, invocation: ctx.request().id });
        const waiting = ctx.promise('decision').get().orTimeout({ seconds });
        const decision = await waiting.catch((error) => ({
          status: error instanceof restate.TimeoutError ? 'expired' : 'cancelled',
        }));
        const end = decision.decision === 'approve' ? 'approved' : 'rejected';
        const { status = end } = decision;
        ctx.set('hold', { status, approver: decision.by, note: decision.note });
        if (status !== 'approved') return;
        await ctx.run('tool', () => run(ctx.key, decision.args ?? call.args));
      },
      decide: async (ctx, decision) => {
        const { status } = (await ctx.get('hold')) ?? {};
        if (status !== 'pending') throw new restate.TerminalError('it does not wait');
        await ctx.promise('decision').resolve(decision);
      },
      read: (ctx) => ctx.get('hold'),
    },
  });
  const { admin, runOf } = await serveWorkflow(held, start);
  const read = async (id) => (await runOf(id).read()) ?? undefined;
  return {
    async ask({ key, soon, tool, args }) {
      await runOf(key).workflowSubmit({ tool, args, seconds: soon ? 2 : 86_400 });
      while ((await read(key)) === undefined) await new Promise(setImmediate);
    },
    read,
    async waiting() {
      const { rows } = await admin('POST', '/query', { query: waitingCalls });
      const holds = rows.map(({ id, text }) => ({ id, ...JSON.parse(text) }));
      return holds.filter(({ status }) => status === 'pending');
    },
    decide: (id, decision) => runOf(id).decide(decision),
    cancel: async (id) => admin('PATCH', `/invocations/${(await read(id))?.invocation}/cancel`),
  };
});
