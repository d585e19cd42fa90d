import type { WebClient } from '@slack/web-api';
import { type AnyEventObject, fromCallback } from 'xstate';
import type { LinkEvent, LinkInput } from '../../../../machines/channels/connection-machine.ts';
import { SlackSetupError } from './setup-error.ts';
import type { SlackEnvelope, SlackSelf } from './slack-envelope.ts';
import { linkFault } from './slack-failure.ts';
import { readSelf } from './slack-self.ts';
import { SlackSocket, type SlackSocketOptions } from './slack-socket.ts';

/** The effects of a link to Slack. */
export interface SlackLinkOptions extends SlackSocketOptions {
  web: Pick<WebClient, 'auth'>;
  /** Receives the app's identity before the link is up. */
  onSelf: (self: SlackSelf) => void;
  receive: (envelope: SlackEnvelope) => void;
}

/**
 * Creates one link of a connection to Slack. It is up once both tokens are verified and Slack has sent its greeting.
 */
export function slackLink(options: SlackLinkOptions) {
  return fromCallback<AnyEventObject, LinkInput>(({ input: { link }, sendBack }) => {
    const stopped = new AbortController();
    const tell = (event: LinkEvent) => void (stopped.signal.aborted || sendBack(event));
    const down = (error: unknown) => tell({ type: 'link.down', link, fault: linkFault(error) });
    const open = async () => {
      const self = await readSelf(options.web);
      if (stopped.signal.aborted) return;
      const socket = new SlackSocket(options, {
        up(appId) {
          if (!isSameApp(self, appId)) {
            down(new SlackSetupError('the two tokens belong to two Slack apps; take both of one'));
            return;
          }
          options.onSelf({ ...self, appId: appId ?? self.appId });
          tell({ type: 'link.up', link });
        },
        leaving: () => tell({ type: 'link.leaving', link }),
        down,
        receive: options.receive,
      });
      stopped.signal.addEventListener('abort', () => socket.close(), { once: true });
      socket.open();
    };
    open().catch(down);
    return () => stopped.abort();
  });
}

function isSameApp(self: SlackSelf, appId: string | null): boolean {
  return appId === null || self.appId === null || self.appId === appId;
}
