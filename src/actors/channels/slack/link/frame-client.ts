import { SocketModeClient } from '@slack/socket-mode';

/**
 * The client of the library with our own reading of frames: the library's rejects unheard on frames that
 * it does not expect, logs what they hold, and hangs up as soon as Slack says that it will.
 */
export class FrameClient extends SocketModeClient {
  /** Is given the data of each frame. Must not throw. */
  hear: (data: unknown) => void = () => undefined;

  protected override async onWebSocketMessage(data: string | ArrayBuffer): Promise<void> {
    this.hear(data);
  }

  /** Sends a frame. Rejects when the socket is gone. */
  say(message: object): Promise<void> {
    const { websocket } = this;
    return new Promise((resolve, reject) => {
      if (websocket?.isActive() !== true) {
        reject(new Error('slack: the socket is gone'));
        return;
      }
      const text = JSON.stringify(message);
      websocket.send(text, (error?: Error) => (error === undefined ? resolve() : reject(error)));
    });
  }
}
