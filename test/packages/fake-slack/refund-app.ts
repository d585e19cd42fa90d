import type { FakeSlack } from '../../../packages/fake-slack/fake-slack.ts';
import { buttons, connect, type Heard, modal, webClient } from './open-slack.ts';

/** An app on Slack's own libraries that requests an approval for any message; a talker sends before it listens. */
export async function startRefundApp(slack: FakeSlack, isTalker = false): Promise<void> {
  const web = webClient(slack, slack.botToken);
  const approvals: { channel: string; ts: string }[] = [];
  const end = async (text: string): Promise<void> => {
    const place = approvals.at(-1);
    if (place !== undefined) await web.chat.update({ ...place, text, blocks: [] });
  };
  const answer = async ({ body }: Heard): Promise<void> => {
    if (body.type === 'event_callback') {
      const { channel } = body.event;
      const posted = await web.chat.postMessage({ channel, text: 'Refund?', blocks: buttons });
      approvals.push({ channel, ts: posted.ts ?? '' });
    } else if (body.type === 'view_submission') {
      await end(`Rejected: ${body.view.state.values.reason.text.value}`);
    } else if (body.actions?.[0].action_id === 'approve') {
      await end(`Approved by <@${body.user.id}>`);
    } else if (body.actions?.[0].action_id === 'reject') {
      if (isTalker) await web.chat.postMessage({ channel: body.channel.id, text: 'One moment.' });
      await web.views.open({ trigger_id: body.trigger_id, view: modal });
    }
  };
  await connect(slack, (heard) => {
    void heard.ack().then(() => answer(heard));
  });
}
