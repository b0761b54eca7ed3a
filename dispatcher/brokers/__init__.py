"""Where events come from: one port, and a driver for each broker. Drivers are imported when they are configured."""
