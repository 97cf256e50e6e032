/** As which a message's group goes to fauxqs, which forgets the group itself (fair-queues.ts). */
export const GROUP_ATTRIBUTE = 'glimpse.MessageGroupId';
