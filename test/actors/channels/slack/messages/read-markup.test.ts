import { describe, expect, it } from 'vitest';
import { readMarkup } from '../../../../../src/actors/channels/slack/messages/read-markup.ts';

const asked: string[] = [];
const names: Record<string, string> = { U2: 'Bob <b>' };
const ports = {
  botUserId: 'U1',
  nameOf: async (id: string) => {
    asked.push(id);
    return names[id] ?? id;
  },
};

describe('a string from Slack', () => {
  it.each<[string, string]>([
    ['<@U1> refund 7', 'refund 7'],
    ['hey <@U1|bot>, refund <@U1> 7', 'hey , refund 7'],
    ['ask <@U2> and <@U3|carl>', 'ask @Bob <b> and @U3'],
    ['in <#C1|refunds> and <#C2>', 'in #refunds and #C2'],
    ['see <https://x.test/?a=1&amp;b=2|the page>', 'see https://x.test/?a=1&b=2'],
    ['<mailto:ann@x.test|ann@x.test>', 'ann@x.test'],
    ['<!here> <!subteam^S1|@sales> <!date^1^{date}|today>', '@here @sales today'],
    ['1 &lt; 2 &amp;&amp; 3 &gt; 2', '1 < 2 && 3 > 2'],
    ['&amp;lt;!channel&amp;gt;', '&lt;!channel&gt;'],
    [' <@U1> ', ''],
    ['<>', ''],
  ])('is read from %j', async (text, plain) => {
    expect(await readMarkup(text, ports)).toBe(plain);
  });

  it('looks up at most ten people, each once, and not the agent', async () => {
    asked.length = 0;
    const many = Array.from({ length: 30 }, (_, index) => `<@W${index}> <@W${index}>`).join(' ');
    await readMarkup(`<@U1> ${many}`, ports);
    expect(asked).toEqual(Array.from({ length: 10 }, (_, index) => `W${index}`));
  });
});
