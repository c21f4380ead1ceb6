export {
  type Chat,
  ChatFault,
  type ChatFile,
  type ChatName,
  type Content,
  type Listening,
  type Place,
  type Said,
} from "./chat.ts";
export type { MattermostSettings } from "./mattermost/listen.ts";
export { openMattermost } from "./mattermost/mattermost.ts";
export { isSignedBySlack, readSlackRequest } from "./slack/read-slack.ts";
export { openSlack, type SlackSettings } from "./slack/slack.ts";
