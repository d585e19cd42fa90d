import { type Arguments, type HoldDecision, isRefused } from '../adapter.ts';
import { checksOf } from '../check.ts';
import { promised } from '../promised.ts';

export const closedChecks = checksOf('fail closed', {
  'unknown-hold': [
    'a hold that does not exist is refused',
    [],
    async (holds) => {
      const ids = [holds.call().key, '__proto__', '../../etc/passwd', '%00', ' '];
      for (const id of ids) {
        const status = await holds.status(id);
        promised(status === 'refused', `a hold that does not exist is ${status}`);
      }
    },
  ],
  'empty-key': [
    'an empty key is refused',
    [],
    async (holds) => {
      const answer = await holds.adapter.ask({ ...holds.call(), key: '' });
      promised(isRefused(answer), 'a call with an empty key was accepted');
    },
  ],
  'not-an-object': [
    'arguments that are no object are refused',
    ['schema'],
    async (holds) => {
      for (const args of [[1], null, 'a', 5]) {
        const call = { ...holds.call(), args: args as unknown as Arguments };
        const answer = await holds.adapter.ask(call);
        if (!isRefused(answer)) await holds.expectEnd(answer.id, 'denied');
      }
    },
  ],
  'unknown-tool': [
    'a tool that no rule names does not run without a decision',
    ['tools'],
    async (holds) => {
      const answer = await holds.adapter.ask(holds.call({ tool: 'unlisted' }));
      const status = isRefused(answer) ? 'refused' : answer.status;
      promised(
        status === 'refused' || status === 'denied' || status === 'pending',
        `a call of a tool that no rule names is ${status}`,
      );
    },
  ],
  'waiting-call': [
    'a waiting call does not run',
    ['take or runs'],
    async (holds) => {
      const { id } = await holds.held();
      await holds.expectNoRun(id);
      await holds.expectWaiting(id);
    },
  ],
  'rejected-call': [
    'a rejected call never runs',
    ['decide', 'take or runs'],
    async (holds) => {
      const { id } = await holds.held();
      await holds.decideNow(id, 'reject');
      await holds.expectEnd(id, 'rejected');
      await holds.expectNoRun(id);
    },
  ],
  'cancelled-call': [
    'a cancelled call never runs',
    ['cancel', 'take or runs'],
    async (holds) => {
      const { id } = await holds.held();
      promised((await holds.cancel(id)) === 'accepted', 'the cancellation was refused');
      await holds.expectEnd(id, 'cancelled');
      await holds.expectNoRun(id);
    },
  ],
  'other-words': [
    'a word that is no decision approves nothing',
    ['decide', 'take or runs'],
    async (holds) => {
      for (const word of ['', 'yes', 'approved', 'constructor', true, null]) {
        const { id } = await holds.held();
        await holds.decide(id, word as HoldDecision['decision']);
        const status = await holds.status(id);
        promised(status !== 'approved', `the decision ${JSON.stringify(word)} approves a call`);
        if (status !== 'pending') await holds.expectNoRun(id);
      }
    },
  ],
});
