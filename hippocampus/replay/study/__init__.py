"""A study of next steps: readers take an agent's next step under several views, a judge grades them."""
