"""What is known of one piece of content: its entry, its ids, its decay. Data and arithmetic; no I/O."""
