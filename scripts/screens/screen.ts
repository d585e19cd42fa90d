import type { Page } from 'playwright-core';

/** What a walk to a screen has at hand. */
export interface Scene {
  page: Page;
  /** Opens an address of the page, and waits until it is there. */
  open: (address: string) => Promise<void>;
  /** Takes the pictures of what is shown by now; `part` is added to the name of the screen. */
  take: (part: string) => Promise<void>;
}

/** A screen: where it is, and the steps that lead there from its address. `Stage` is the server that it is on. */
export interface Screen<Stage> {
  address: string;
  walk?: (scene: Scene, stage: Stage) => Promise<void>;
  /** Whether the walk takes the pictures itself. */
  takes?: boolean;
}
