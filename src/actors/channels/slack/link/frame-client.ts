import { SocketModeClient } from '@slack/socket-mode';

/**
 * The library's client with a custom frame reader. The library's own reader causes unhandled rejections on unexpected
 * frames, logs their contents, and disconnects as soon as Slack announces the end.
 */
export class FrameClient extends SocketModeClient {
  /** Receives the data of each frame. Must not throw. */
  hear: (data: unknown) => void = () => undefined;

  protected override async onWebSocketMessage(data: string | ArrayBuffer): Promise<void> {
    this.hear(data);
  }

  /** Sends a frame. Rejects if the socket is closed. */
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
