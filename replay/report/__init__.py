"""What people read: text for a terminal.  Documents in, text out; nothing here derives."""
