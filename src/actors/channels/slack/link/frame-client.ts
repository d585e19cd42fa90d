import { SocketModeClient } from '@slack/socket-mode';

/**
 * The library's client with our own frame reader: the library's rejects unheard on unexpected frames, logs their
 * contents, and disconnects as soon as Slack announces the end.
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
